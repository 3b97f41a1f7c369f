import { fieldsHelp } from '../global-options.ts'

export const completeFieldsOption = (argv: readonly string[]): readonly string[] =>
  argv.at(-1) === '--fields' && !argv.includes('--') ? [...argv, fieldsHelp] : argv

export const asksForFields = (argv: readonly string[]): boolean =>
  argv.some(
    (word, index) =>
      word === `--fields=${fieldsHelp}` || (word === '--fields' && argv[index + 1] === fieldsHelp),
  )
