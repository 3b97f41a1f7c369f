import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { operationName } from '../../src/api/operation.ts'
import { anyField, fieldNames, fieldOf, sampleRecord } from '../../src/api/operations/fields.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { queueExplanationRecord } from '../../src/api/operations/records.ts'
import { recoveryRules } from '../../src/api/recovery-rules.ts'
import { projectTest } from '../support/sample.ts'

const filesBelow = (directory: string, ending: RegExp): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => `${directory}/${name.replaceAll('\\', '/')}`)
    .filter(path => ending.test(path))
    .sort()

const read = (path: string): string => readFileSync(path, 'utf8')

const docs = filesBelow('docs', /\.md$/)
const rootPages = readdirSync('.').filter(name => name.endsWith('.md'))
/** The pages in the package. */
const shippedPages = ['README.md', 'CHANGELOG.md', ...filesBelow('skills', /\.md$/)]
/** The other files with links for people: Markdown, and the forms for issues. */
const otherPages = [
  ...rootPages.filter(page => !shippedPages.includes(page)),
  ...docs,
  ...filesBelow('.github', /\.(?:md|yml)$/),
]

const headingsOf = (page: string): readonly string[] =>
  [
    ...read(page)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading = '']) => heading)

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

/** The address of a file of the project on its page. */
const filePage = `${manifest.repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`

describe('links', () => {
  const isBroken = (page: string, target: string): boolean => {
    const [file = '', anchor] = target.split('#')
    const from = file.startsWith('/') ? '.' : dirname(page)
    const to = file === '' ? page : normalize(join(from, file))
    if (!existsSync(to)) return true
    return anchor !== undefined && !headingsOf(to).map(anchorOf).includes(anchor)
  }

  const brokenLinks = (page: string): readonly string[] => {
    const text = read(page)
    const relative = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(
      ([, target = '']) => target,
    )
    const absolute = text.split(filePage).slice(1)
    const targets = [...relative, ...absolute.map(rest => `/${/^[\w./#-]*\w/.exec(rest)}`)]
    return targets.filter(target => isBroken(page, target))
  }

  test.each(shippedPages)('of %s resolve', page => expect(brokenLinks(page)).toEqual([]))

  projectTest.each(otherPages)('of %s resolve', page => expect(brokenLinks(page)).toEqual([]))

  projectTest.each(docs)('to a heading of %s have one target', page => {
    const anchors = headingsOf(page).map(anchorOf)
    expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([])
  })

  projectTest('in docs/README.md lead to every page', () => {
    const index = read('docs/README.md')
    const others = docs.filter(page => page !== 'docs/README.md').map(page => page.replace('docs/', ''))
    for (const page of [...others, ...rootPages.map(page => `../${page}`)])
      expect(index).toContain(`](${page})`)
  })

  projectTest('answer each question of docs/README.md', () => {
    const [, questions = ''] = read('docs/README.md').split('| question | where |\n| --- | --- |\n')
    const rows = questions
      .split('\n\n')[0]
      ?.split('\n')
      .map(row => row.split(' | '))
    expect(rows?.length).toBeGreaterThanOrEqual(20)
    for (const [question, where] of rows ?? []) {
      expect(question).toMatch(/\?$/)
      expect(where).toMatch(/\]\([\w-]+\.md/)
      // The text of a link is the heading to which it leads.
      const links = where?.matchAll(/\[([^\]]+)\]\(([^)#]+)#?([^)]*)\)/g) ?? []
      for (const [, text = '', page = '', anchor] of links)
        expect(anchor || anchorOf(headingsOf(`docs/${page}`)[0] ?? '')).toContain(anchorOf(text))
    }
  })

  projectTest('in README.md lead to the list of all pages', () =>
    expect(read('README.md')).toContain('](docs/README.md)'),
  )
})

projectTest('recipes install the package that is set, and documents name the version', () => {
  const install =
    /(?:npm (?:i|install) (?:-g|--global) |npx |uses: mergeq\/|ghcr\.io\/mergeq\/)mergeq\b(?:[@:]v?([\w.]+))?/g
  const recipes = filesBelow('docs/recipes', /\.yml$/)
  for (const page of [...recipes, 'docs/ci.md'])
    expect(
      read(page)
        .match(/npm (?:i|install) .*/g)
        ?.filter(line => !line.includes('MERGEQ_PACKAGE')),
    ).toEqual([])
  const installs = docs.flatMap(page =>
    [...read(page).matchAll(install)].map(([line, found]) => ({ page, line, found })),
  )
  expect(installs.length).toBeGreaterThan(4)
  expect(installs.filter(({ found }) => found !== manifest.version)).toEqual([])
})

projectTest('docs/standstill.md has each verdict of queue explain', () => {
  const [, table = ''] = read('docs/standstill.md').split('| verdict | it means | look next at |\n')
  const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell)
  const named = cells.flatMap(cell => cell.split(', ')).map(word => word.replaceAll('`', "'"))
  const { type = '' } = fieldOf(queueExplanationRecord.fields.verdict ?? '')
  expect(named.sort()).toEqual(type.split(' | ').sort())
})

describe('what documents and comments name exists', () => {
  const citation = /\b(docs\/(?:reference|decisions)\/[\w-]+\.md)((?:(?:,| and|, and) "[A-Za-z][^"\n]*")*)/g

  /** The citations in a text that name a page or a heading that does not exist. */
  function brokenCitations(text: string): readonly string[] {
    // A citation can continue on the next line of a comment.
    const joined = text.replace(/\n\s*(?:\*(?!\/)|\/\/)\s?/g, ' ')
    return [...joined.matchAll(citation)].flatMap(([, page = '', cited = '']) => {
      if (!docs.includes(page)) return [page]
      const headings = [...cited.matchAll(/"([^"]*)"/g)].map(([, heading = '']) => heading)
      const known = headingsOf(page)
      return headings.filter(heading => !known.includes(heading)).map(heading => `${page}, "${heading}"`)
    })
  }

  projectTest.each(['src', 'test', 'scripts', 'bin', 'docs'])(
    'cited pages and headings, in %s',
    directory => {
      const files = filesBelow(directory, /\.(?:ts|mjs|js|md)$/)
      const broken = files.flatMap(path => brokenCitations(read(path)).map(cited => `${path}: ${cited}`))
      expect(broken).toEqual([])
    },
  )

  projectTest.each(['README.md', 'CONTRIBUTING.md', ...docs])('the files that %s names', page => {
    const named = /`((?:src|test|scripts|bin|docs|completions|man)\/[\w./-]*)`/g
    const paths = [...read(page).matchAll(named)].map(([, path = '']) => path)
    expect(paths.filter(path => !existsSync(path))).toEqual([])
  })

  projectTest('CONTRIBUTING.md names every directory of src/', () => {
    const page = read('CONTRIBUTING.md')
    for (const name of readdirSync('src')) expect(page).toContain(`\`src/${name}`)
  })
})

projectTest('the reference has each operation, each field of a response and each rule of recovery', () => {
  const sections = [...headingsOf('docs/reference/service.md'), 'getMergeQueueMetrics']
  const names = serviceOperations.map(({ route }) => operationName(route).replace(/.*\//, ''))
  expect(sections).toEqual(expect.arrayContaining(names))
  // The metrics are text, and their records are those of mergeq.
  const records = serviceOperations.flatMap(({ response }) =>
    response === sampleRecord ? [] : (response ?? []),
  )
  const fields = records.flatMap(fieldNames)
  const spans = read('docs/reference/service.md').match(/`[^`]+`/g) ?? []
  const code = spans.flatMap(span => span.split(/\W+/))
  expect(code).toEqual(
    expect.arrayContaining(fields.map(name => name.replace(anyField, '').replace(/.*\./, ''))),
  )
  const [, readBack = ''] = read('docs/reference/network.md').split('### What is read back\n')
  const rules = [...readBack.matchAll(/^\| `(\w+)` \|/gm)].map(([, rule = '']) => rule)
  expect(rules).toEqual(Object.keys(recoveryRules))
})
