// The completion scripts as modules, whose default export is their text.
import { readFileSync } from 'node:fs'

export const textModules = {
  name: 'text-modules',
  load: id =>
    /[\\/]completions[\\/][^\\/]+$/.test(id)
      ? { code: `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`, moduleType: 'js' }
      : null,
}
