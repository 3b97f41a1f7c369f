// How everything of src/ is bundled: for the package in parts, for the standalone program in one.

/** esbuild's settings for a program of this version. */
export const bundling = version => ({
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.18',
  // `import()` would start the loader of ES modules: it becomes `require`, or what is loaded stands in the same file.
  supported: { 'dynamic-import': false },
  legalComments: 'none',
  define: { MERGEQ_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
})
