// Writes all generated files that are committed.
//
//     node scripts/generate.mjs
import { writeFileSync } from 'node:fs'
import { importTypeScript } from './import-typescript.mjs'
import { writePackedSize } from './packed-size.mjs'

const { generatedFiles } = await importTypeScript('scripts/generate/generated-files.ts')
for (const [path, render] of Object.entries(generatedFiles)) writeFileSync(path, await render())
writePackedSize()
