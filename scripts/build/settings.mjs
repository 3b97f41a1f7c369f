// Build options for src/: the package is built in several files, the standalone program in one.

/** The esbuild options for a program of this version. */
export const bundleOptions = version => ({
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.18',
  // `import()` would start the ES module loader. esbuild replaces it with `require`, or includes the module
  // itself.
  supported: { 'dynamic-import': false },
  legalComments: 'none',
  define: { MERGEQ_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
})
