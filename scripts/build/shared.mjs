// Modules that several parts use stand in one of them alone: the others take them from there, so that nothing is shipped
// or compiled twice. The front, which every start reads, provides for all; the commands provide for what they load.
import { relative, resolve } from 'node:path'

const taken = 'taken'

/** The source modules of ours that a bundle holds. */
export const modulesIn = ({ metafile, root }) =>
  Object.keys(metafile.inputs)
    .map(input => resolve(root, input))
    .filter(path => path.startsWith(`${root}/src/`))

/** Lets a part take modules from those that provide them: a map from a module to the file of its provider. */
export const takenFrom = (providers, src) => ({
  name: 'taken',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, namespace, path, resolveDir }) => {
      if (namespace === taken) return { path, external: true }
      const source = resolve(resolveDir, path)
      return kind === 'import-statement' && providers.has(source)
        ? { path: source, namespace: taken }
        : undefined
    })
    onLoad({ filter: /.*/, namespace: taken }, ({ path }) => ({
      contents: `module.exports = require('./${providers.get(path)}').shared[${JSON.stringify(relative(src, path))}]`,
    }))
  },
})

/** The entry of a part that provides modules to others. */
export const providing = (entry, modules, src) => {
  const paths = modules.map(path => relative(src, path))
  return [
    `export * from './${relative(src, entry)}'`,
    ...paths.map((path, index) => `import * as m${index} from './${path}'`),
    `export const shared = { ${paths.map((path, index) => `${JSON.stringify(path)}: m${index}`).join(', ')} }`,
  ].join('\n')
}
