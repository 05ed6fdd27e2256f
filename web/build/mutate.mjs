// Mutation test: npm run mutate -- FILE-OR-FOLDER... ; MAX=60 tries so many mutants, chosen at random by SEED=1.
//
// Changes one number, comparison, logical operator or condition of a module at a time, runs the unit tests that import the module,
// and lists the mutants that no test notices. It works on a copy in a temporary folder, so that an interrupted run leaves the
// sources as they are. Plain JavaScript, since Node 20 runs no TypeScript.
//
// The tests run in a child process that keeps Vitest and its module graph between two mutants. A mutant that loops for ever blocks
// that process; the parent kills it after a time limit, counts the mutant as noticed, and starts another one.

import { fork } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const minTimeLimit = 10_000; // ms that the tests of one mutant may take
const timeLimitFactor = 8; // of what the unchanged module's tests take
const excluded = new Set(["node_modules", "dist", "shots"]);

/** sourceFiles lists the modules that an argument names, relative to web/. */
function sourceFiles(argument) {
  const path = [resolve(process.env.INIT_CWD ?? process.cwd(), argument), resolve(web, argument), resolve(web, "..", argument)].find(existsSync);
  if (path === undefined) throw new Error(`${argument}: no such file or folder`);
  if (!statSync(path).isDirectory()) return [relative(web, path)];
  const names = readdirSync(path, { recursive: true }).map(String).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  return names.sort().map((name) => relative(web, join(path, name)));
}

/** mutantsOf lists the mutants of a module: the text from start to end is replaced. */
async function mutantsOf(file) {
  const { default: ts } = await import("typescript");
  const text = readFileSync(join(web, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const { SyntaxKind: kind } = ts;
  const operators = new Map([
    [kind.LessThanToken, "<="],
    [kind.LessThanEqualsToken, "<"],
    [kind.GreaterThanToken, ">="],
    [kind.GreaterThanEqualsToken, ">"],
    [kind.EqualsEqualsEqualsToken, "!=="],
    [kind.ExclamationEqualsEqualsToken, "==="],
    [kind.AmpersandAmpersandToken, "||"],
    [kind.BarBarToken, "&&"],
  ]);
  const equality = new Set([kind.EqualsEqualsEqualsToken, kind.ExclamationEqualsEqualsToken]);
  const mutants = [];
  const add = (node, replacement) => {
    const start = node.getStart(source);
    const { line, character } = source.getLineAndCharacterOfPosition(start);
    mutants.push({ start, end: node.getEnd(), replacement, line: line + 1, column: character + 1, original: text.slice(start, node.getEnd()) });
  };
  const negate = (condition) => {
    const isEquality = ts.isBinaryExpression(condition) && equality.has(condition.operatorToken.kind); // its operator is changed anyway
    if (!isEquality) add(condition, `!(${condition.getText(source)})`);
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isNumericLiteral(node)) add(node, numberInstead(Number(node.text.replaceAll("_", ""))));
    if (ts.isBinaryExpression(node) && operators.has(node.operatorToken.kind)) add(node.operatorToken, operators.get(node.operatorToken.kind));
    if (ts.isIfStatement(node)) negate(node.expression);
    if (ts.isConditionalExpression(node)) negate(node.condition);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { text, mutants };
}

/** numberInstead changes a number by a fifth, and a small whole number by one. */
function numberInstead(value) {
  if (value === 0) return "1";
  if (Number.isInteger(value) && value < 5) return String(value - 1);
  return String(Number.isInteger(value) ? Math.floor(value * 0.8) : value * 0.8);
}

/** Tests runs the unit tests of one module in a child process. */
class Tests {
  #child = null;
  #folder;
  #file;

  constructor(folder, file) {
    this.#folder = folder;
    this.#file = file;
  }

  /** run answers "passed", "failed", "none" (no test imports the module) or "timeout". */
  async run(timeLimit) {
    if (this.#child === null) {
      this.#child = fork(fileURLToPath(import.meta.url), ["--child", this.#folder, this.#file], { cwd: join(this.#folder, "web"), stdio: ["ignore", "ignore", "inherit", "ipc"] });
      await new Promise((ready, fail) => {
        this.#child.once("message", ready);
        this.#child.once("exit", (code) => fail(new Error(`Vitest ended with ${String(code)}`)));
      });
    }
    const child = this.#child;
    return new Promise((done) => {
      const finish = (outcome) => {
        clearTimeout(timer);
        child.off("message", finish);
        child.off("exit", crashed);
        done(outcome);
      };
      const crashed = () => {
        this.#child = null;
        finish("failed");
      };
      const timer = setTimeout(() => {
        this.end();
        finish("timeout");
      }, timeLimit);
      child.once("message", finish);
      child.once("exit", crashed);
      child.send("run");
    });
  }

  end() {
    this.#child?.removeAllListeners("exit");
    this.#child?.kill("SIGKILL");
    this.#child = null;
  }
}

/** child keeps Vitest and runs the related tests each time it is told to: the module's own first, which most often notice. */
async function child(folder, file) {
  const { createVitest } = await import("vitest/node");
  const path = join(folder, "web", file);
  const silent = { onInit: () => undefined };
  const vitest = await createVitest("test", { root: join(folder, "web"), watch: false, related: [path], bail: 1, reporters: [silent], maxWorkers: 1 });
  await vitest.standalone();
  const specifications = await vitest.getRelevantTestSpecifications();
  const own = specifications.filter(({ moduleId }) => moduleId === path.replace(/\.ts$/, ".test.ts"));
  const groups = [own, specifications.filter((one) => !own.includes(one))].filter((group) => group.length > 0);
  const run = async () => {
    vitest.invalidateFile(path);
    for (const group of groups) {
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(group);
      if (unhandledErrors.length > 0 || testModules.some((module) => !module.ok())) return "failed";
    }
    return groups.length === 0 ? "none" : "passed";
  };
  process.on("disconnect", () => process.exit()); // the parent was stopped
  process.on("message", () => void run().then((outcome) => process.send(outcome)));
  process.send("ready");
}

/** choose keeps max of the mutants of all files at random; 0: all. */
function choose(all, max, seed) {
  if (max === 0) return all;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const drawn = all.flatMap(({ mutants }) => mutants).map((mutant) => ({ mutant, at: random() }));
  const kept = new Set(drawn.sort((a, b) => a.at - b.at).slice(0, max).map(({ mutant }) => mutant));
  return all.map((one) => ({ ...one, mutants: one.mutants.filter((mutant) => kept.has(mutant)) })).filter(({ mutants }) => mutants.length > 0);
}

/** mutate prints what survives of one module, and returns how many mutants there were and how many survived. */
async function mutate(folder, { file, text, mutants }) {
  const copy = join(folder, "web", file);
  const tests = new Tests(folder, file);
  let survived = 0;
  try {
    const start = Date.now();
    const unchanged = await tests.run(120_000);
    if (unchanged === "none") {
      console.log(`${file}: no unit test imports it (${String(mutants.length)} mutants)`);
      return { mutants: 0, survived: 0 };
    }
    if (unchanged !== "passed") throw new Error(`${file}: its tests fail unchanged`);
    const timeLimit = Math.max(minTimeLimit, timeLimitFactor * (Date.now() - start));
    for (const { start: from, end, replacement, line, column, original } of mutants) {
      writeFileSync(copy, text.slice(0, from) + replacement + text.slice(end));
      if ((await tests.run(timeLimit)) !== "passed") continue;
      survived++;
      console.log(`${file}:${String(line)}:${String(column)}: ${original.replace(/\s+/g, " ")} → ${replacement.replace(/\s+/g, " ")}`);
    }
  } finally {
    tests.end();
    writeFileSync(copy, text);
  }
  console.log(`${file}: ${String(survived)} of ${String(mutants.length)} mutants survived`);
  return { mutants: mutants.length, survived };
}

async function main(targets) {
  if (targets.length === 0) throw new Error("usage: npm run mutate -- FILE-OR-FOLDER...");
  const files = [...new Set(targets.flatMap(sourceFiles))];
  const folder = mkdtempSync(join(tmpdir(), "wayside-mutate-"));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => {
      clean();
      process.exit(1);
    });
  }
  try {
    cpSync(web, join(folder, "web"), { recursive: true, filter: (path) => !excluded.has(relative(web, path).split(sep)[0] ?? "") });
    symlinkSync(join(web, "node_modules"), join(folder, "web", "node_modules"));
    symlinkSync(join(web, "..", "internal"), join(folder, "internal")); // some tests read the service's own test data
    let [mutants, survived] = [0, 0];
    const all = await Promise.all(files.map(async (file) => ({ file, ...(await mutantsOf(file)) })));
    for (const one of choose(all, Number(process.env.MAX ?? 0), Number(process.env.SEED ?? 1))) {
      const result = await mutate(folder, one);
      mutants += result.mutants;
      survived += result.survived;
    }
    console.log(`${String(survived)} of ${String(mutants)} mutants survived`);
  } finally {
    clean();
  }
}

if (process.argv[2] === "--child") await child(process.argv[3], process.argv[4]);
else
  await main(process.argv.slice(2)).catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
