// Looks at pages of the built site in Chromium and prints what is wrong as JSON lines.
// Arguments: the program, a folder for pictures (or "-"), the address of the site, the pages.
"use strict";
const { chromium } = require(process.env.EQUIPAGE_PLAYWRIGHT);

const [program, pictures, site, ...pages] = process.argv.slice(2);
const LOOKS = [[1280, 860, "light"], [1280, 860, "dark"], [390, 844, "light"], [390, 844, "dark"]];

// Runs in the page: text with too little contrast, by the formula of WCAG 2, and what is too wide.
function look() {
  const parse = (text) => {
    const found = text.match(/[\d.]+/g).map(Number);
    return { rgb: found.slice(0, 3), alpha: found.length > 3 ? found[3] : 1 };
  };
  const over = (top, ground) => top.rgb.map((value, i) => value * top.alpha + ground[i] * (1 - top.alpha));
  const groundOf = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      layers.push(colour);
      if (colour.alpha === 1) break;
    }
    return layers.reverse().reduce((ground, layer) => over(layer, ground), [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = new Map();
  const walker = document.createTreeWalker(document.querySelector(".md-content"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility({ opacityProperty: true })) continue;
    const style = getComputedStyle(element);
    const ground = groundOf(element);
    const text = over(parse(style.color), ground);
    const [low, high] = [light(text), light(ground)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      poor.set(`${element.tagName.toLowerCase()}.${element.className}`, [ratio.toFixed(2), walker.currentNode.data.trim().slice(0, 40)]);
    }
  }
  return {
    over: document.documentElement.scrollWidth - innerWidth,
    poor: [...poor].map(([where, [ratio, text]]) => `${where} ${ratio} ${JSON.stringify(text)}`),
    pictures: [...document.images].filter((each) => each.complete && !each.naturalWidth).map((each) => each.src),
  };
}

(async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  for (const [width, height, colorScheme] of LOOKS) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    const heard = [];
    page.on("pageerror", (error) => heard.push(String(error)));
    page.on("request", (request) => !/^data:/.test(request.url()) && !request.url().startsWith(site) && heard.push(`asks for ${request.url()}`));
    for (const each of pages) {
      heard.length = 0;
      await page.goto(site + each);
      const seen = await page.evaluate(look);
      if (pictures !== "-") {
        const name = `${width}-${colorScheme}-${each.split("/").slice(-2).join("-")}.png`;
        await page.screenshot({ path: `${pictures}/${name}`, fullPage: false });
      }
      console.log(JSON.stringify({ page: each, width, colorScheme, heard: [...heard], ...seen }));
    }
    await context.close();
  }
  await browser.close();
})();
