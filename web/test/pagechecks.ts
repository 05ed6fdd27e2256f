// Checks of accessibility and layout that hold for every page.

import { readFileSync } from "node:fs";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { waitTimeout } from "./harness.ts";

/** Minimum size of touch targets in a moving car, in CSS pixels. */
export const carTouch = 60;
/** Minimum size of touch targets on a phone. */
export const phoneTouch = 48;

const rules = ["wcag2a", "wcag2aa", "wcag2aaa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The rules whose result depends on colours, for a page that was checked by all of them in other colours. */
export const colourRules = ["color-contrast", "color-contrast-enhanced", "link-in-text-block"];

/** axeWithoutTimers gives axe a timer of its own, because the page's clock may be stopped. Long timeouts never fire. */
const axeWithoutTimers = `((setTimeout) => { ${readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8")} })((then, wait = 0) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => then();
  if (wait < 1000) port2.postMessage(null);
})`;

/** violations returns axe's findings, AAA included, by all rules or by some. It is injected by the debugger, since the pages' policy forbids foreign scripts. */
export async function violations(page: Page, only?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeWithoutTimers);
  const runOnly = only ? { type: "rule" as const, values: [...only] } : { type: "tag" as const, values: rules };
  return page.evaluate(async (runOnly) => {
    const preload = { assets: ["media"] }; // not the styles, which no rule of these reads
    const { violations: found } = await (window as unknown as { axe: typeof axe }).axe.run(document, { runOnly, resultTypes: ["violations"], preload });
    return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  }, runOnly);
}

/** smallTargets returns touch targets that are too small. */
export const smallTargets = (page: Page, least = carTouch): Promise<string[]> =>
  page.evaluate((least) => {
    const found: string[] = [];
    for (const node of document.querySelectorAll("button, input:not([type=hidden]), a.row")) {
      const { width, height } = node.getBoundingClientRect();
      if (width > 0 && (width < least || height < least)) found.push(`${width.toFixed(0)} × ${height.toFixed(0)}: ${node.outerHTML.slice(0, 160)}`);
    }
    return found;
  }, least);

/** overlappingTargets returns touch targets that overlap within one layer of panels. */
export const overlappingTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    const nodes = [...document.querySelectorAll("button, input:not([type=hidden]), a.row")].filter((node) => node.closest("[hidden], details:not([open])") === null);
    const layer = (node: Element): Element | null => node.closest(".menu, .pairing");
    // Targets that are scrolled out of view are ignored.
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
 * unreadableTexts returns texts that are cut off by their container or overlap each other. Texts that are covered by another panel or
 * scrolled out of view are ignored.
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
      const scrolls = piece.owner.closest("[role=region][tabindex], pre[tabindex]") !== null; // an accessible scroll region
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

/** check runs all checks. */
export async function check(page: Page, what: string, least = carTouch): Promise<void> {
  expect(await violations(page), what).toEqual([]);
  await checkLayout(page, what, least);
}

/** checkLayout runs the checks that depend on the window and the language. */
export async function checkLayout(page: Page, what: string, least = carTouch): Promise<void> {
  expect(await smallTargets(page, least), what).toEqual([]);
  await expect.poll(() => overlappingTargets(page), { message: what, timeout: waitTimeout, interval: 20 }).toEqual([]); // a panel makes room a frame after another one appears
  expect(await unreadableTexts(page), what).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), `${what}: wider than the window`).toBeLessThanOrEqual(0);
}
