// A module that several chunks use is emitted in one of them, and the others import it from there, so that no
// code is shipped or compiled twice. The main chunk, which every start loads, provides modules to all chunks;
// the chunk of the commands provides modules to the chunks that commands load.
import { relative, resolve } from 'node:path'

const namespaceName = 'provided'

/** The paths of the modules of src/ in a bundle. */
export const listSourceModules = ({ metafile, root }) =>
  Object.keys(metafile.inputs)
    .map(input => resolve(root, input))
    .filter(path => path.startsWith(`${root}/src/`))

/**
 * Build plugin: imports modules from the chunks that provide them. `providers` maps a module to an output
 * file.
 */
export const importFromProviders = (providers, src) => ({
  name: 'import-from-providers',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, namespace, path, resolveDir }) => {
      if (namespace === namespaceName) return { path, external: true }
      const source = resolve(resolveDir, path)
      return kind === 'import-statement' && providers.has(source)
        ? { path: source, namespace: namespaceName }
        : undefined
    })
    onLoad({ filter: /.*/, namespace: namespaceName }, ({ path }) => ({
      contents: `module.exports = require('./${providers.get(path)}').shared[${JSON.stringify(relative(src, path))}]`,
    }))
  },
})

/** The source of an entry module that also exports `modules` for other chunks. */
export const createProviderEntry = (entry, modules, src) => {
  const paths = modules.map(path => relative(src, path))
  return [
    `export * from './${relative(src, entry)}'`,
    ...paths.map((path, index) => `import * as m${index} from './${path}'`),
    `export const shared = { ${paths.map((path, index) => `${JSON.stringify(path)}: m${index}`).join(', ')} }`,
  ].join('\n')
}
