// Types of assets that Vite imports.

declare module "*.css?url" {
  const url: string;
  export default url;
}
