/**
 * What people type who know other programs, and what it means here. It is in the folder of the command that it leads to,
 * and is loaded only for a command line that is wrong.
 *
 * - `places`: the group or command before the word, several separated by `, `; empty for the first word, which may also be
 *   the group of another program (`merge`). `queue *` is every command of the group, and `*` every command.
 * - `words`: the words that are typed, separated by spaces. `<pr>` is any pull request, `<repo>` any repository, `<file>`
 *   any YAML or JSON file, and `<word>` any word. An option may be followed by `=` and its value, `<n>` for any number and
 *   `<time>` for any duration.
 * - `meant`: the command or options that take their place, with `*` for the word itself, `<n>` for the number and
 *   `<value>` for the value after an option; empty if the word is left out, and what follows it stays. Or a sentence, which
 *   begins with a capital letter, with `<1>` and `<2>` for the words that follow; or `none`, where a similar name would be
 *   wrong.
 */
export type Habit = readonly [places: string, words: string, meant: string]
