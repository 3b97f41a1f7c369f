// The rolldown options for src/: the package is built in several files, the standalone program in one.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '..')
export const src = join(root, 'src')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const noChildProcesses = '\0no-child-processes'

/**
 * Replaces node:child_process in Commander, which would start programs for subcommands in files of their own.
 * Loading it takes 2 of the 22 ms in which Node starts, for every command line that is parsed.
 */
const withoutChildProcesses = {
  name: 'without-child-processes',
  resolveId: {
    filter: { id: /^node:child_process$/ },
    handler: (_, importer) =>
      /[\\/]node_modules[\\/]commander[\\/]/.test(importer) ? noChildProcesses : null,
  },
  load: {
    filter: { id: new RegExp(`^${noChildProcesses}$`) },
    handler: () => 'export {}',
  },
}

/** How source files become modules. */
export const inputOptions = {
  platform: 'node',
  transform: { target: 'node20.18', define: { MERGEQ_VERSION: JSON.stringify(version) } },
  // What packages load at start, and nothing here uses:
  // - Undici's HTTP/2 client, with node:http2: 6 of 62 ms of CPU for a request.
  // - Conf's validator of schemas, which no settings file here has: 15 of 112 ms of CPU for `config set`.
  // - Chalk's detection of colors, with node:os and node:tty: mergeq decides itself. 3 of 42 ms of CPU for `--help`.
  resolve: {
    alias: {
      './client-h2.js': false,
      'ajv/dist/2020.js': false,
      'ajv-formats': false,
      '#supports-color': join(root, 'node_modules/chalk/source/vendor/supports-color/browser.js'),
    },
  },
  plugins: [withoutChildProcesses],
  // A lazy import of a module that is loaded anyway costs nothing.
  checks: { ineffectiveDynamicImport: false },
}

/** How modules become files. `import()` would start the loader of ES modules; `require` takes less time. */
export const outputOptions = {
  format: 'cjs',
  dynamicImportInCjs: false,
  minify: true,
  comments: false,
}
