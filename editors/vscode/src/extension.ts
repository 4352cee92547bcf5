// Starts the language server, and again when its settings change or somebody asks for it. What
// editors show is decided by the server.
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

const LANGUAGES = ["yaml", "json", "jsonc", "toml", "markdown"];

let client: LanguageClient | undefined;
// Starts and stops wait for each other: two restarts at once would leave a server behind.
let last: Promise<void> = Promise.resolve();

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("equipage");
  const [command, ...args] = settings.get<string[]>("command", ["equipage", "lsp"]);
  if (!command) {
    void vscode.window.showErrorMessage("equipage: the setting `equipage.command` is empty.");
    return;
  }
  client = new LanguageClient(
    "equipage",
    { command, args },
    {
      documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
      initializationOptions: { workspace: settings.get<boolean>("workspace", true) },
    },
  );
  try {
    await client.start();
  } catch (problem) {
    client = undefined;
    const help = "Install it (`pip install PATH`, the path of a clone), or set `equipage.command`.";
    void vscode.window.showErrorMessage(`equipage: cannot start \`${command}\`: ${problem}. ${help}`);
  }
}

function restart(): Promise<void> {
  last = last.then(stop, stop).then(start);
  return last;
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("equipage.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("equipage")) {
        void restart();
      }
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await last.then(stop, stop);
}
