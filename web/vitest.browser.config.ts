import { defineConfig } from "vitest/config";

// Tests in a real browser against the real binary; globalsetup.ts builds and starts both, once for all files.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/globalsetup.ts"],
    setupFiles: ["test/setup.ts"],
    // Tests wait for conditions, so that generous limits cost nothing unless a test fails, and a busy machine fails none.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    isolate: false, // one process loads the modules and starts the browser once for all its files
    maxWorkers: 2, // while a test waits, for the service or a timer of the page, one of another file runs
  },
});
