import manifest from '../../package.json' with { type: 'json' }

/** What a build prints for `--version`: that of the manifest, and the commit where it is not the one of a tag. */
export const builtVersion = new RegExp(
  `^${manifest.version.replaceAll('.', '\\.')}(?:\\+[0-9a-f]{8}(?:\\.changed)?)?\n?$`,
)
