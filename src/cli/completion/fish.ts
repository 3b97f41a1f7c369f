import {
  type CompletionSpec,
  type CompletionValue,
  generatedNote,
  listSuggestions,
  safeName,
  safeValue,
  toOptionToken,
} from './completion-spec.ts'

const quote = (text: string): string => `'${text.replace(/['\\]/g, character => `\\${character}`)}'`

/** Returns the command that prints a line for each entry: name, tab, summary. */
const renderPrintf = (entries: readonly (readonly [string, string])[]): string =>
  `printf '%s\\t%s\\n' ${entries.map(entry => entry.map(quote).join(' ')).join(' ')}`

/** Returns the statements that offer the completions of a value. */
const renderValue = ({ words, file, program, stored }: CompletionValue): string =>
  [
    ...(words.length === 0 ? [] : [`printf 'word %s\\n' ${words.map(quote).join(' ')}`]),
    ...(file ? ['echo file'] : []),
    ...(program ? ['echo program'] : []),
    ...(stored === undefined ? [] : [`__mergeq_stored ${stored}`]),
  ].join('; ')

/** Returns the branches of a `switch`. */
const renderCases = (branches: readonly (readonly [key: string, body: string])[]): string =>
  branches.map(([key, body]) => `        case ${key}\n            ${body}`).join('\n')

/** Returns the completion script for fish. */
export function renderFishScript(spec: CompletionSpec): string {
  const { nodes, aliases, globalOptions } = spec
  const withChildren = nodes.filter(({ children }) => children.length > 0)
  const withOptions = nodes.filter(({ options }) => options.length > 0)
  return `# fish completion for mergeq
# ${generatedNote}

function __mergeq_children
    switch "$argv"
${renderCases(withChildren.map(({ path, children }) => [quote(path), renderPrintf(children)]))}
    end
end

function __mergeq_flags
    switch "$argv"
${renderCases(withOptions.map(({ path, options }) => [quote(path), renderPrintf(options.map(option => [toOptionToken(option), option.summary]))]))}
    end
    ${renderPrintf(globalOptions.map(option => [toOptionToken(option), option.summary]))}
end

function __mergeq_value
    switch "$argv"
${renderCases(listSuggestions(spec).map(([key, value]) => [quote(key.endsWith('#') ? `${key}*` : key), renderValue(value)]))}
    end
end

# Profiles, or the values of a key in them, as mergeq itself writes them; names that a shell might read otherwise are left out.
function __mergeq_stored
    set -l folder
    if test -n "$MERGEQ_CONFIG_DIR"
        set folder $MERGEQ_CONFIG_DIR
    else if test -d "$HOME/Library/Preferences/mergeq"
        set folder $HOME/Library/Preferences/mergeq
    else if string match -q '/*' -- "$XDG_CONFIG_HOME"
        set folder $XDG_CONFIG_HOME/mergeq
    else if string match -q '/*' -- "$HOME"
        set folder $HOME/.config/mergeq
    end
    string match -q '/*' -- "$folder"; and test -f "$folder/config.json"; and test -r "$folder/config.json"; or return
    set -l pattern '^      "'$argv[1]'": "(${safeValue})",?$'
    test $argv[1] = profile; and set pattern '^    "(${safeName})": \\{'
    set -l inside 0
    set -l count 0
    while read -l line
        set count (math $count + 1)
        test $count -gt 1000; and break
        if test "$line" = '  "profiles": {'
            set inside 1
        else if string match -q '  }*' -- "$line"
            set inside 0
        else if test $inside -eq 1
            set -l found (string match -r -- $pattern "$line"); and echo "word $found[2]"
        end
    end <"$folder/config.json"
end

# Prints what may stand at the cursor: words with their summaries, or the line "file" or "program".
function __mergeq_offer
    set -l typed (commandline -opc)
    set -l cur (commandline -ct)
    set -l place ''
    set -l given
    set -l wants ''
    set -l rest 0
    set -l count 0
    set -l prefix ''
    set -l children (__mergeq_children '' | string replace -r '\\t.*' '')
    set -l flags (__mergeq_flags '')
    for word in $typed[2..]
        if test -n "$wants"
            set wants ''
        else if test $rest -eq 0; and test "$word" = --
            set rest 1
        else if test $rest -eq 0; and string match -q -- '-?*' "$word"
            set -l name (string replace -r '=.*' '' -- "$word")
            set -l row (__mergeq_row "$name" $flags)
            set name (string replace -r '^-\\w\\|' '' -- "$row" | string replace -r '[=+!].*' '')
            set -a given "$name"
            if string match -q -- '*=*' "$row"; and not string match -q -- '*=*' "$word"
                set wants "$name"
            end
        else if test $rest -eq 0; and test $count -eq 0; and contains -- "$word" $children
            set place (string trim -- "$place $word")
            switch "$place"
${aliases.map(([alias, path]) => `                case ${quote(alias)}\n                    set place ${quote(path)}`).join('\n')}
            end
            set children (__mergeq_children "$place" | string replace -r '\\t.*' '')
            set flags (__mergeq_flags "$place")
        else
            set count (math $count + 1)
        end
    end

    if test -z "$wants"; and test $rest -eq 0; and string match -q -- '--*=*' "$cur"
        set -l row (__mergeq_row (string replace -r '=.*' '' -- "$cur") $flags)
        string match -q -- '*=*' "$row"; or return
        set wants (string replace -r '^-\\w\\|' '' -- "$row" | string replace -r '[=+!].*' '')
        set prefix "$wants="
    end
    if test -n "$wants"
        set -l offers (__mergeq_value "$place $wants")
        test -n "$offers"; or set offers (__mergeq_value "$wants")
        string replace -r -- '^word ' "$prefix" $offers
    else if test $rest -eq 0; and string match -q -- '-*' "$cur"
        for flag in $flags
            set -l parts (string split -m 1 \\t -- $flag)
            set -l name (string replace -r '^-\\w\\|' '' -- "$parts[1]" | string replace -r '[=+!].*' '')
            if not string match -q -- '*+*' "$parts[1]"; and contains -- "$name" $given
                continue
            end
            if string match -q -- '*!' "$parts[1]"
                set -l opposite (string replace -r -- '^--' --no- "$name")
                string match -q -- '--no-*' "$name"; and set opposite (string replace -r -- '^--no-' -- "$name")
                contains -- "$opposite" $given; and continue
            end
            printf '%s\\t%s\\n' "$name" "$parts[2]"
        end
    else if test $rest -eq 0; and test $count -eq 0; and test -n "$children"
        __mergeq_children "$place"
    else
        set -l offers (string replace -r '^word ' '' -- (__mergeq_value "$place #"(math $count + 1)))
        test $count -gt 0; and set offers (string replace -r '^program$' file -- $offers)
        printf '%s\\n' $offers
    end
end

# The row of a flag among others, by its long or its short name.
function __mergeq_row
    for flag in $argv[2..]
        set -l token (string split -f 1 \\t -- $flag)
        if contains -- "$argv[1]" (string replace -r '[=+!].*' '' -- "$token" | string split '|')
            echo "$token"
            return
        end
    end
end

function __mergeq_words
    string match -v -r '^(file|program)$' -- (__mergeq_offer)
end

function __mergeq_is
    contains -- $argv[1] (__mergeq_offer)
end

complete -c mergeq -e
complete -c mergeq -f -a '(__mergeq_words)'
complete -c mergeq -n '__mergeq_is file' -F
complete -c mergeq -n '__mergeq_is program' -a '(__fish_complete_command)'
`
}
