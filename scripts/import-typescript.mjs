// Imports a TypeScript file in Node 20, which runs no TypeScript.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { build } from 'rolldown'
import { root } from './bundle.mjs'
import { textModules } from './text-modules.mjs'

/** Bundles a TypeScript file with its imports into a temporary file, and returns what that exports. */
export async function importTypeScript(path) {
  const folder = join(root, `dist.${process.pid}.generate`)
  const file = join(folder, 'index.mjs')
  try {
    await build({
      platform: 'node',
      input: join(root, path),
      // Packages are not bundled.
      external: /^[@a-z]/,
      plugins: [textModules],
      checks: { ineffectiveDynamicImport: false },
      output: { file, format: 'esm', codeSplitting: false },
    })
    return await import(pathToFileURL(file).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
