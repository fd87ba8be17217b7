/** The product's name and version, as `--version`, journals and reports show it. */
export const VERSION = '0.1.0';
export const PRODUCT = `ralph ${VERSION}`;
