// Reading and cutting CHANGELOG.md, in the format of Keep a Changelog.

const sectionNames = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']

const releaseHeading = /^## \[(\d+\.\d+\.\d+(?:-[\w.]+)?)\] - (\d{4}-\d\d-\d\d)$/

/**
 * Returns the problems of a changelog for the release of a version: the first release must be this version
 * with a valid date, it must have an entry, and nothing may be left below "Unreleased".
 */
export function changelogProblems(text, version) {
  const problems = []
  const lines = text.split('\n')
  const headings = lines.flatMap((line, index) => (/^## /.test(line) ? [{ line, index }] : []))
  const releases = headings.flatMap(({ line, index }) => {
    const [, name, date] = releaseHeading.exec(line) ?? []
    return name === undefined ? [] : [{ name, date, index }]
  })
  for (const { line } of headings)
    if (!releaseHeading.test(line) && !/^## \[?Unreleased\]?$/.test(line))
      problems.push(`the heading '${line}' is not '## [version] - YYYY-MM-DD'`)
  for (const line of lines)
    if (/^### /.test(line) && !sectionNames.includes(line.slice(4)))
      problems.push(`the section '${line.slice(4)}' is not one of ${sectionNames.join(', ')}`)
  const [newest] = releases
  if (newest?.name !== version)
    problems.push(
      `the newest release is ${newest?.name ?? 'missing'}, not ${version}: run npm run release:check -- --cut`,
    )
  for (const { name, date } of releases)
    if (Number.isNaN(Date.parse(date)) || !new Date(date).toISOString().startsWith(date))
      problems.push(`the date of ${name} is invalid: ${date}`)
  for (const { name } of releases)
    if (!lines.some(line => line.startsWith(`[${name}]: https://`)))
      problems.push(`${name} has no link at the end`)
  if (newest !== undefined && !notesOf(text, newest.name).includes('\n- '))
    problems.push(`${newest.name} has no entry`)
  const unreleased = headings.find(({ line }) => /Unreleased/.test(line))
  const end = headings.find(({ index }) => unreleased !== undefined && index > unreleased.index)?.index
  if (unreleased !== undefined && lines.slice(unreleased.index, end).some(line => line.startsWith('- ')))
    problems.push("entries are below 'Unreleased'")
  return problems
}

/** Returns the text of a release in a changelog, without its heading; an empty text if there is none. */
export function notesOf(text, version) {
  const lines = text.split('\n')
  const start = lines.findIndex(line => releaseHeading.exec(line)?.[1] === version)
  if (start < 0) return ''
  const rest = lines.slice(start + 1)
  const end = rest.findIndex(line => /^## |^\[[^\]]+\]: /.test(line))
  return rest.slice(0, end < 0 ? undefined : end).join('\n')
}

/** Returns the changelog with everything below "Unreleased" moved to a release, and the links at the end. */
export function cutChangelog(text, version, date, repository) {
  if (!/^## \[?Unreleased\]?$/m.test(text)) throw new Error("CHANGELOG.md has no heading 'Unreleased'.")
  if (text.includes(`\n## [${version}] - `)) throw new Error(`CHANGELOG.md already has a release ${version}.`)
  const [, previous] = /^## \[(\d[^\]]*)\] - /m.exec(text) ?? []
  const change =
    previous === undefined
      ? `${repository}/releases/tag/v${version}`
      : `${repository}/compare/v${previous}...v${version}`
  const body = text
    .replace(/^## \[?Unreleased\]?\n/m, `## [Unreleased]\n\n## [${version}] - ${date}\n`)
    .replace(/^\[Unreleased\]: .*\n/m, '')
  const links = `[Unreleased]: ${repository}/compare/v${version}...HEAD\n[${version}]: ${change}\n`
  const firstLink = body.search(/^\[[^\]]+\]: https:/m)
  return firstLink < 0
    ? `${body.trimEnd()}\n\n${links}`
    : body.slice(0, firstLink) + links + body.slice(firstLink)
}
