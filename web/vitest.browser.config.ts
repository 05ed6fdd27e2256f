import { defineConfig } from "vitest/config";

// Tests in a real browser against the real binary; start.ts builds and starts both, once for all files.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/start.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 1, // a browser that draws without a graphics card needs the processor for itself
  },
});
