import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/** A file that can contain citations. */
interface CitingFile {
  readonly path: string
  readonly text: string
}

const readFiles = (folder: string, ending: RegExp): readonly CitingFile[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter(path => ending.test(path))
    .sort()
    .map(path => ({ path, text: readFileSync(path, 'utf8') }))

const pages = readFiles('docs', /\.md$/)
const files: readonly CitingFile[] = [
  ...['src', 'test', 'scripts', 'bin'].flatMap(folder => readFiles(folder, /\.(?:ts|mjs|js)$/)),
  ...pages,
]

const headingsOf = (text: string): readonly string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)

const headingsByPage: ReadonlyMap<string, readonly string[]> = new Map(
  pages.map(({ path, text }) => [path, headingsOf(text)]),
)

/** Returns a text with the lines of each comment joined, because a citation can continue on the next line. */
const joinComments = (text: string): string => text.replace(/\n\s*(?:\*(?!\/)|\/\/)\s?/g, ' ')

const citation = /\b(docs\/(?:reference|decisions)\/[\w-]+\.md)((?:(?:,| and|, and) "[A-Za-z][^"\n]*")*)/g

/** Returns the citations of a file that name a page or a heading that does not exist. */
function brokenCitations({ path, text }: CitingFile): readonly string[] {
  return [...joinComments(text).matchAll(citation)].flatMap(([, page = '', cited = '']) => {
    const headings = headingsByPage.get(page)
    if (headings === undefined) return [`${path} cites ${page}`]
    return [...cited.matchAll(/"([^"]*)"/g)].flatMap(([, heading = '']) =>
      headings.includes(heading) ? [] : [`${path} cites ${page}, "${heading}"`],
    )
  })
}

describe('citations', () => {
  test('name a page and a heading that exist', () => {
    expect(files.flatMap(brokenCitations)).toEqual([])
  })

  test('are found when they are broken, also over several lines', () => {
    const [page, first, last] = ['docs/reference/network.md', '"Retries"', '"No such heading"']
    const text = `/**\n * See ${page},\n * ${first} and ${last}.\n */`
    expect(brokenCitations({ path: 'example.ts', text })).toEqual([`example.ts cites ${page}, ${last}`])
  })

  test('are the only references to specifications', () => {
    const names = ['CLI', 'WIRE', 'SANDBOX', 'TERMINAL', 'DESIGN', 'service-api', 'service-observed', 'cases']
    const oldName = new RegExp(`(?<![\\w/-])(?:${names.join('|')})\\.md\\b`)
    expect(files.filter(({ text }) => oldName.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('of files in src/ name a heading, not only a page', () => {
    const withoutHeading = files
      .filter(({ path }) => path.startsWith('src/'))
      .filter(({ text }) => [...joinComments(text).matchAll(citation)].some(([, , cited]) => cited === ''))
    expect(withoutHeading.map(({ path }) => path)).toEqual([])
  })
})

describe('pages below docs/', () => {
  const idOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-')

  test.each(pages)('$path: every heading occurs once', ({ text }) => {
    const headings = headingsOf(text)
    expect(headings.filter((heading, index) => headings.indexOf(heading) !== index)).toEqual([])
  })

  const rootPages = readdirSync('.')
    .filter(name => name.endsWith('.md'))
    .map(path => ({ path, text: readFileSync(path, 'utf8') }))

  test.each([...pages, ...rootPages])('$path: every relative link resolves', ({ path, text }) => {
    const targets = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target = '']) => target)
    const broken = targets.filter(target => {
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? path : normalize(join(dirname(path), file))
      if (!existsSync(to)) return true
      return anchor !== undefined && !headingsOf(readFileSync(to, 'utf8')).map(idOf).includes(anchor)
    })
    expect(broken).toEqual([])
  })
})

describe('paths', () => {
  const named = ['README.md', 'CONTRIBUTING.md', ...pages.map(({ path }) => path)].flatMap(page =>
    [
      ...readFileSync(page, 'utf8').matchAll(/`((?:src|test|scripts|bin|docs|completions|man)\/[\w./-]*)`/g),
    ].map(([, path = '']) => ({ page, path })),
  )

  test.each(named)('$path, named in $page, exists', ({ path }) => {
    expect(existsSync(path)).toBe(true)
  })
})
