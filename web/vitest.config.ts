import { defineConfig } from "vitest/config";

// Unit tests: pure functions, without a browser. The time limit is for loops without end, so that a busy machine fails no test.
export default defineConfig({ test: { testTimeout: 60_000, include: ["build/**/*.test.ts", "overlay/**/*.test.ts", "console/**/*.test.ts", "../examples/apps/**/*.test.ts"] } });
