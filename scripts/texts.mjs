// Prints every text that a person can meet, for a reviewer: the help of every command and group, every help
// topic, and every string of src/ that reads like a sentence or a heading, with its line and what uses it.
//
//     npm run --silent texts > texts.txt
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vitest/node'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const mergeq = (...args) =>
  execFileSync(process.execPath, [join(root, 'bin/mergeq.js'), ...args], { encoding: 'utf8' })

const isNode = value => typeof value === 'object' && value !== null && typeof value.type === 'string'

/** The text of a string or a template; `{name}` stands for each expression of a template. */
const textOf = (node, source) => {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type !== 'TemplateLiteral') return undefined
  return node.quasis
    .map(({ value }, index) => {
      const expression = node.expressions[index]
      return expression === undefined
        ? value.cooked
        : `${value.cooked}{${source.slice(expression.start, expression.end).replace(/\s+/g, ' ')}}`
    })
    .join('')
}

/** What uses a text: the function that it is given to, or the property or constant that holds it. */
const useOf = (node, source) => {
  if (node.type === 'CallExpression' || node.type === 'NewExpression')
    return `${source.slice(node.callee.start, node.callee.end).replace(/\s+/g, ' ').slice(-40)}()`
  if (node.type === 'Property') return source.slice(node.key.start, node.key.end)
  if (node.type === 'VariableDeclarator') return source.slice(node.id.start, node.id.end).split(':')[0]
}

/** Whether a string is meant for a person: several words, or one word in capitals such as a heading. */
const isProse = text => /[a-z]{2,}[,;:.]? +[#a-z{]/i.test(text) || /^[A-Z][A-Z ]+$/.test(text)

function* textsOf(node, source, use = '') {
  if (/^(Import|Export(All|Named)).*Declaration$/.test(node.type) && node.source) return
  if (/^TS(?!As|Satisfies|NonNull|Const)/.test(node.type)) return
  const text = textOf(node, source)
  if (text !== undefined && isProse(text))
    yield { text, use, line: source.slice(0, node.start).split('\n').length }
  const here = useOf(node, source) ?? use
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) yield* textsOf(child, source, here)
}

const heading = title => console.log(`\n${'='.repeat(100)}\n${title}\n`)

const topics = ['exit-codes', 'environment', 'formatting']
const { commands, groups } = JSON.parse(mergeq('help', '--json'))
/** The parts that are the same in the help of every command; `mergeq --help` shows them once. */
const shared = /^Global (?:flags|options):[\s\S]*?\n\n|^More:[\s\S]*/gm
heading('mergeq --help')
console.log(mergeq('--help'))
for (const topic of topics) {
  heading(`mergeq help ${topic}`)
  console.log(mergeq('help', topic))
}
for (const command of [...groups.map(({ name }) => name), ...commands.map(({ command }) => command)]) {
  heading(`mergeq ${command} --help`)
  console.log(mergeq(...command.split(' '), '--help').replace(shared, ''))
}
for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).sort()) {
  if (!path.endsWith('.ts')) continue
  const source = readFileSync(join(root, 'src', path), 'utf8')
  const found = [...textsOf(parseAst(source, { lang: 'ts' }), source)]
  if (found.length === 0) continue
  heading(`src/${path.replaceAll('\\', '/')}`)
  for (const { text, use, line } of found)
    console.log(`${line} ${use}\n    ${text.replaceAll('\n', '\n    ')}`)
}
