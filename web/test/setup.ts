// Runs before each file of tests. The files share a process, and with it the browser.

import { afterEach, beforeAll } from "vitest";
import { closeCars, openBrowser } from "./harness.ts";

beforeAll(openBrowser);
afterEach(closeCars);
