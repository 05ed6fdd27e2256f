// What holds of every page: anybody can read it, and a finger hits what it wants.

import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** A finger in a moving car needs so much, in CSS pixels. */
export const carTouch = 60;
/** A phone in a hand needs less. */
export const phoneTouch = 48;

const rules = ["wcag2a", "wcag2aa", "wcag2aaa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** axeWithoutTimers is axe with a timer of its own: the page's clock may stand still. What it would wait for long never comes. */
const axeWithoutTimers = `((setTimeout) => { ${axe.source} })((then, wait = 0) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => then();
  if (wait < 1000) port2.postMessage(null);
})`;

/** violations are axe's, AAA included. The pages' policy lets no script in, and so axe comes by the debugger. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeWithoutTimers);
  return page.evaluate(async (runOnly) => {
    const { violations: found } = await (window as unknown as { axe: typeof axe }).axe.run(document, { runOnly });
    return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  }, rules);
}

/** smallTargets are the things to touch that a finger misses. */
export const smallTargets = (page: Page, least = carTouch): Promise<string[]> =>
  page.evaluate((least) => {
    const found: string[] = [];
    for (const node of document.querySelectorAll("button, input:not([type=hidden]), a.row")) {
      const { width, height } = node.getBoundingClientRect();
      if (width > 0 && (width < least || height < least)) found.push(`${width.toFixed(0)} × ${height.toFixed(0)}: ${node.outerHTML.slice(0, 160)}`);
    }
    return found;
  }, least);

/** overlappingTargets are things to touch of which one lies over another, though no panel does. */
export const overlappingTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    const nodes = [...document.querySelectorAll("button, input:not([type=hidden]), a.row")].filter((node) => node.closest("[hidden], details:not([open])") === null);
    const layer = (node: Element): Element | null => node.closest(".menu, .pairing");
    // What is scrolled away has a place beyond the panel that scrolls.
    const isSeen = (node: Element, { top, bottom }: DOMRect): boolean => {
      const frame = node.closest(".scroll, .pages")?.getBoundingClientRect();
      return frame === undefined || (top >= frame.top - 1 && bottom <= frame.bottom + 1);
    };
    const boxes = nodes.map((node) => ({ node, box: node.getBoundingClientRect() })).filter(({ node, box }) => box.width > 0 && isSeen(node, box));
    boxes.forEach((one, at) => {
      for (const other of boxes.slice(at + 1)) {
        if (layer(one.node) !== layer(other.node)) continue;
        const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (wide > 2 && high > 2) found.push(`${one.node.outerHTML.slice(0, 120)} and ${other.node.outerHTML.slice(0, 120)}`);
      }
    });
    return found;
  });

/**
 * misprints are texts that a driver cannot read: cut off at the side by what holds them, or lying over each other. What is under
 * another panel, or scrolled away, is not there.
 */
export const unreadableTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    interface Piece {
      owner: Element;
      text: string;
      box: DOMRect;
    }
    const pieces: Piece[] = [];
    const found: string[] = [];
    const name = ({ text, owner }: Piece): string => `“${text}” (${owner.className === "" ? owner.tagName : owner.className})`;
    const isSeen = ({ left, top, width, height }: DOMRect, owner: Element): boolean => {
      const there = document.elementFromPoint(left + width / 2, top + height / 2);
      return there !== null && (owner.contains(there) || there.contains(owner));
    };
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode;
      const owner = node.parentElement;
      const text = (node.textContent ?? "").trim();
      if (owner === null || text === "" || owner.closest(".unseen, [hidden], details:not([open]) > :not(summary), noscript, script, style") !== null) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) if (box.width > 0 && isSeen(box, owner)) pieces.push({ owner, text, box });
    }
    const layer = ({ owner }: Piece): Element | null => owner.closest(".menu, .pairing");
    const slack = 1.5;
    for (const piece of pieces) {
      const { left, right } = piece.box;
      const scrolls = piece.owner.closest("[role=region][tabindex], pre[tabindex]") !== null; // and says so
      if (!scrolls && (left < -slack || right > window.innerWidth + slack)) found.push(`beyond the window: ${name(piece)}`);
      for (let holder: Element | null = piece.owner; holder !== null && holder !== document.body; holder = holder.parentElement) {
        if (holder.matches("[role=region][tabindex], pre[tabindex]")) break;
        const { left: from, right: to, width } = holder.getBoundingClientRect();
        const holds = getComputedStyle(holder).display !== "inline" && width > 0;
        if (holds && (left < from - slack || right > to + slack)) found.push(`wider than ${holder.className || holder.tagName}: ${name(piece)}`);
      }
    }
    pieces.forEach((one, at) => {
      for (const other of pieces.slice(at + 1)) {
        if (one.owner === other.owner || layer(one) !== layer(other)) continue;
        const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (wide > 2 && high > 4) found.push(`over each other: ${name(one)} and ${name(other)}`); // lines may touch
      }
    });
    return [...new Set(found)];
  });

/** check is all three. */
export async function check(page: Page, what: string, least = carTouch): Promise<void> {
  expect(await violations(page), what).toEqual([]);
  await checkLayout(page, what, least);
}

/** checkLayout is what changes with the window and the language. */
export async function checkLayout(page: Page, what: string, least = carTouch): Promise<void> {
  expect(await smallTargets(page, least), what).toEqual([]);
  expect(await overlappingTargets(page), what).toEqual([]);
  expect(await unreadableTexts(page), what).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), `${what}: wider than the window`).toBeLessThanOrEqual(0);
}
