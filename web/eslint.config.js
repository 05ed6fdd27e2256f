import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "node_modules", "shots", "eslint.config.js", "build/mutate.mjs", "build/appicons.mjs", "build/pictures.mjs"] },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "max-lines": ["error", 600],
      "max-lines-per-function": ["error", { max: 80 }],
    },
  },
  {
    // What runs in browsers makes no HTML out of text and no code out of strings: the policies forbid both.
    files: ["overlay/**", "console/**"],
    rules: {
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property, message: "element() of dom.ts makes elements." })),
      ],
      "no-restricted-globals": ["error", "eval"],
    },
  },
  { files: ["**/*.test.ts", "test/**"], rules: { "max-lines-per-function": "off" } },
);
