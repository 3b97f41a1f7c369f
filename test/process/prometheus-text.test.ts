import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { quantileOf } from '../../src/domain/metrics/last-hour.ts'
import { testWith } from '../support/programs.ts'
import { isRead, parseSamples, someBuckets } from '../support/prometheus-text.ts'
import { evaluate, metricsOf } from '../support/promtool.ts'

/** Whether Prometheus' own parser takes a text: what it only finds fault with (3) is read all the same. */
const promtoolReads = (input: string): boolean =>
  spawnSync('promtool', ['check', 'metrics'], { input, stdio: ['pipe', 'ignore', 'ignore'] }).status !== 1

describe('the same verdict as Prometheus', () => {
  const labels = [
    ...['', ',', 'b="c"', 'b="c",', 'b="c",,', 'b="c" d="e"', 'b="c",b="d"', '__name__="c"', 'b:c="d"'],
    ...['b="q\\"q\\\\\\n"', 'b="\\t"', 'b="\\x41"', 'b="c\n"', 'b="é😀\u00A0"', 'b=c', "b='c'", 'b="c'],
  ].map(inner => `a{${inner}} 1`)
  const values = '1 +5 .5e-3 5. . 1e400 1e-400 1_000 0x10 0x1p4 +Inf -inf Infinity nan +NaN infinite'
    .split(' ')
    .map(value => `a ${value}`)
  const times = ['2 3', '-2', '+2', '2.5', '9223372036854775807'].map(time => `a 1 ${time}`)
  const names = ['a:b 1', 'é 1', '1a 1', 'a-b 1', 'a\u00A01', '{a="b"} 1', 'a', 'a{b="c"}', 'a{b="c"']
  const blanks = ['', '\n\n \t\n', ' \ta\t1', 'a { b = "c" , d = "" } 1 2', 'a{b="c"}1']
  const comments = ['#a 1', '# HELP a says \\n and \\\\ and "', '# HELP a', '#TYPE a counter']
  const types = [
    'gauge\n',
    'untyped\na 1',
    'histogram\na_bucket{le="x"} 1',
    'histogram\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 2\na_sum 3\na_count 2',
    'summary\na{quantile="0.5"} 1\na_sum 3\na_count 2',
    'summary\na{quantile="x"} 1',
    'summary\na_bucket{le="x"} 1',
  ].map(type => `# TYPE a ${type}`)

  testWith('promtool').each([...labels, ...values, ...times, ...names, ...blanks, ...comments, ...types])(
    '%j',
    line => {
      expect(isRead(`${line}\n`)).toBe(promtoolReads(`${line}\n`))
    },
  )

  testWith('promtool').each([
    ['CRLF', '# TYPE a gauge\r\na{b="c"} 1\r\n\r\n'],
    ['a last line without its end', 'a 1'],
    ['blanks at the end of a line', 'a 1 \n'],
    ['a type that says nothing', '# TYPE a thing\na 1\n'],
    ['a type declared twice', '# TYPE a gauge\n# TYPE a gauge\na 1\n'],
    ['a comment about no metric', '# HELP 1a x\n'],
  ])('but unambiguous input is accepted: %s', (_, text) => {
    expect([isRead(text), promtoolReads(text)]).toEqual([true, false])
  })

  testWith('promtool')('the sandbox only breaks the rule for names that end in _total', async () => {
    const out = await metricsOf('happy')
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: out, encoding: 'utf8' })
    // The names are the service's (docs/reference/service.md, "Metrics"): gauges, whatever they end in.
    const messages = stderr.split('\n').filter(line => line !== '' && !line.includes('_total'))
    expect({ messages, status }).toEqual({ messages: [], status: 3 })
    expect(parseSamples(out).length).toBeGreaterThan(50)
  })

  testWith('promtool')('quantiles are those of Prometheus, to the last digit', () => {
    const share = fc.constantFrom(0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1)
    const samples: string[] = []
    const expected = fc.sample(fc.tuple(someBuckets, share), 80).map(([buckets, q], i) => {
      for (const { bound, count } of buckets)
        samples.push(`h_bucket{i="${i}", le="${bound === Infinity ? '+Inf' : bound}"} ${count}`)
      return {
        query: `histogram_quantile(${q}, h_bucket{i="${i}"})`,
        samples: `[{ labels: '{i="${i}"}', value: ${quantileOf(q, buckets)?.value} }]`,
      }
    })
    expect(evaluate(samples, expected)).toBe('')
  })
})
