// Starts the language server and restarts it on demand; everything else is the server's.
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("equipage");
  const [command, ...args] = settings.get<string[]>("command", ["equipage", "lsp"]);
  const languages = ["yaml", "json", "jsonc", "toml", "markdown"];
  client = new LanguageClient(
    "equipage",
    { command, args },
    {
      documentSelector: languages.map((language) => ({ scheme: "file", language })),
      initializationOptions: { workspace: settings.get<boolean>("workspace", true) },
    },
  );
  await client.start();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const restart = vscode.commands.registerCommand("equipage.restart", async () => {
    await client?.stop();
    await start();
  });
  context.subscriptions.push(restart);
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
