import { type Described, methodOf, type Row } from '../api/operation.ts'
import { rows } from '../api/operations/index.ts'
import type { Given, Word } from '../cli/inputs.ts'
import { type Desk, openDesk, type Secrets } from '../cli/context.ts'
import { readValues } from '../cli/invocation.ts'
import { run } from '../cli/run-operation.ts'
import { contextOf, type Purpose } from '../config/config.ts'
import type { World } from '../host/host.ts'
import type { Command, Runner } from '../cli/command.ts'
import { commands } from './custom-commands.ts'

const setWord: Word = {
  spell: '--set <path=value>',
  summary: 'Add a field to the body: JSON or text, dots make nesting (repeatable)',
  repeats: true,
}

/** One leaf of the tree: what is typed for it, and what it does. */
export interface Leaf extends Described, Pick<Command, 'bearsFailures' | 'passesExitOn' | 'prints'> {
  readonly words: readonly Word[]
  /** What it sends: an operation's one, a hand-written command's in the order of its work. */
  readonly asks: readonly Row[] | 'any'
  act(given: Given, world: World, secrets: Secrets, runner: Runner): Promise<number>
}

const wordsOf = ({ fields }: Described): readonly Word[] =>
  Object.values(fields).flatMap(({ words }) => words)

const sends = ({ route }: Row): readonly Word[] => (methodOf(route) === 'POST' ? [setWord] : [])

const leafOf = (row: Row): Leaf => ({
  ...row,
  words: [...wordsOf(row), ...sends(row)],
  asks: [row],
  act: (given, world, secrets) =>
    atDesk(given, world, secrets, { changes: row.changes !== false, changesSettings: false }, desk =>
      run(row, desk),
    ),
})

const handWritten = (command: Command): Leaf => ({
  ...command,
  words: [
    ...(command.on === undefined ? [] : wordsOf(command.on)),
    ...wordsOf(command),
    ...(command.on === undefined ? [] : sends(command.on)),
  ],
  asks: command.asks === 'any' ? 'any' : [...(command.on ? [command.on] : []), ...(command.asks ?? [])],
  act: (given, world, secrets, runner) =>
    atDesk(given, world, secrets, purposeOf(command), async desk =>
      command.run(await readValues(command.fields, given, contextOf(desk.settings, desk)), desk, runner),
    ),
})

const purposeOf = ({ on, changesSettings = false }: Command) => ({
  changes: (on?.changes ?? false) !== false,
  changesSettings,
})

async function atDesk(
  given: Given,
  world: World,
  secrets: Secrets,
  purpose: Omit<Purpose, 'say'>,
  work: (desk: Desk) => Promise<number>,
): Promise<number> {
  const desk = await openDesk(given, world, secrets, purpose)
  try {
    return await work(desk)
  } finally {
    await desk.close()
  }
}

const firstWord = ({ command }: Described): string => command.split(' ')[0] ?? ''

/** Every command, group by group: the rows, and those written by hand, which take a row's place where they bear its name. */
export const leaves: readonly Leaf[] = gathered([
  ...rows.map(row => {
    const instead = commands.find(({ command }) => command === row.command)
    return instead === undefined ? leafOf(row) : handWritten(instead)
  }),
  ...commands.filter(({ command }) => rows.every(row => row.command !== command)).map(handWritten),
])

function gathered(all: readonly Leaf[]): readonly Leaf[] {
  const groupsInOrder = [...new Set(all.map(firstWord))]
  return groupsInOrder.flatMap(group => all.filter(leaf => firstWord(leaf) === group))
}
