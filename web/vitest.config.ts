import { defineConfig } from "vitest/config";

// Unit tests: pure functions, without a browser.
export default defineConfig({ test: { include: ["build/**/*.test.ts", "overlay/**/*.test.ts", "console/**/*.test.ts", "../examples/apps/**/*.test.ts"] } });
