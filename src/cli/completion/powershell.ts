import {
  type CompletionSpec,
  type CompletionValue,
  generatedNote,
  listSuggestions,
  safeName,
  safeValue,
  toOptionToken,
} from './completion-spec.ts'

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

const renderArray = (words: readonly string[]): string => `@(${words.map(quote).join(', ')})`

/** Returns an array of `name`, tab, `summary`. */
const renderEntries = (entries: readonly (readonly [string, string])[]): string =>
  renderArray(entries.map(([name, summary]) => `${name}\t${summary}`))

/** Returns the array from which the script offers the completions of a value. */
const renderValue = ({ words, file, program, stored }: CompletionValue): string =>
  renderArray([
    ...words.map(word => `word ${word}`),
    ...(file || program ? ['file'] : []),
    ...(stored === undefined ? [] : [`stored ${stored}`]),
  ])

/** Returns the assignment of a hash table to a variable. */
const renderHashtable = (name: string, rows: readonly (readonly [string, string])[]): string =>
  [`    $${name} = @{`, ...rows.map(([key, value]) => `        ${quote(key)} = ${value}`), '    }'].join('\n')

/** Returns the completion script for PowerShell 5.1 and later. */
export function renderPowershellScript(spec: CompletionSpec): string {
  const { nodes, aliases, globalOptions } = spec
  return `# PowerShell completion for mergeq
# ${generatedNote}

Register-ArgumentCompleter -Native -CommandName mergeq -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

${renderHashtable(
  'children',
  nodes
    .filter(({ children }) => children.length > 0)
    .map(({ path, children }) => [path, renderEntries(children)]),
)}
${renderHashtable(
  'flags',
  nodes
    .filter(({ options }) => options.length > 0)
    .map(({ path, options }) => [
      path,
      renderEntries(options.map(option => [toOptionToken(option), option.summary])),
    ]),
)}
    $globals = ${renderEntries(globalOptions.map(option => [toOptionToken(option), option.summary]))}
${renderHashtable(
  'values',
  listSuggestions(spec).map(([key, value]) => [key, renderValue(value)]),
)}
    $aliases = @{ ${aliases.map(([alias, path]) => `${quote(alias)} = ${quote(path)}`).join('; ')} }

    # Profiles, or the values of a key in them: names that a shell might read otherwise are left out.
    function Get-Stored([string] $key) {
        $folder = $env:MERGEQ_CONFIG_DIR
        if (-not $folder) {
            if ($env:APPDATA) { $folder = Join-Path $env:APPDATA 'mergeq' }
            elseif ($IsMacOS -and $env:HOME) { $folder = "$env:HOME/Library/Preferences/mergeq" }
            elseif ($env:XDG_CONFIG_HOME) { $folder = "$env:XDG_CONFIG_HOME/mergeq" }
            elseif ($env:HOME) { $folder = "$env:HOME/.config/mergeq" }
            else { return }
        }
        try {
            $file = Get-Item -LiteralPath (Join-Path $folder 'config.json') -ErrorAction Stop
            if ($file.PSIsContainer -or $file.Length -eq 0 -or $file.Length -gt 65536) { return }
            $settings = Get-Content -LiteralPath $file.FullName -Raw -ErrorAction Stop | ConvertFrom-Json -ErrorAction Stop
            foreach ($one in $settings.profiles.PSObject.Properties) {
                if ($key -eq 'profile') { if ($one.Name -cmatch '^${safeName}$') { $one.Name } }
                elseif ([string] $one.Value.$key -cmatch '^${safeValue}$') { [string] $one.Value.$key }
            }
        } catch { }
    }

    # The row of a flag among others, by its long or its short name.
    function Get-Row([string] $name, $rows) {
        foreach ($row in $rows) {
            $token = $row.Split("\`t")[0]
            if (($token -replace '[=+!].*$', '').Split('|') -ccontains $name) { return $token }
        }
        ''
    }
    function Get-Name([string] $token) { ($token -replace '[=+!].*$', '') -replace '^-\\w\\|', '' }

    # What was typed before the cursor, as it stands there: nothing of it is evaluated.
    $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    $place = ''; $given = @(); $wants = ''; $rest = $false; $count = 0; $prefix = ''
    $known = @($flags['']) + $globals
    foreach ($word in ($typed | Select-Object -Skip 1)) {
        if ($wants) { $wants = '' }
        elseif (-not $rest -and $word -eq '--') { $rest = $true }
        elseif (-not $rest -and $word -like '-?*') {
            $token = Get-Row ($word -replace '=.*$', '') $known
            $name = Get-Name $token
            $given += $name
            if ($token.Contains('=') -and -not $word.Contains('=')) { $wants = $name }
        }
        elseif (-not $rest -and $count -eq 0 -and @($children[$place] | ForEach-Object { $_.Split("\`t")[0] }) -ccontains $word) {
            $place = "$place $word".Trim()
            if ($aliases.ContainsKey($place)) { $place = $aliases[$place] }
            $known = @($flags[$place] | Where-Object { $_ }) + $globals
        }
        else { $count++ }
    }

    $cur = $wordToComplete
    if (-not $wants -and -not $rest -and $cur -like '--*=*') {
        $token = Get-Row ($cur -replace '=.*$', '') $known
        if (-not $token.Contains('=')) { return }
        $wants = Get-Name $token
        $prefix = "$wants="
        $cur = $cur.Substring($cur.IndexOf('=') + 1)
    }
    $offers = @()
    if ($wants) {
        $offers = $values["$place $wants"]
        if (-not $offers) { $offers = $values[$wants] }
    }
    elseif (-not $rest -and $cur.StartsWith('-')) {
        $offers = foreach ($row in $known) {
            $token, $summary = $row.Split("\`t", 2)
            $name = Get-Name $token
            if (-not $token.Contains('+') -and $given -ccontains $name) { continue }
            if ($token.EndsWith('!')) {
                $opposite = if ($name.StartsWith('--no-')) { $name -replace '^--no-', '--' } else { $name -replace '^--', '--no-' }
                if ($given -ccontains $opposite) { continue }
            }
            "word $name\`t$summary"
        }
    }
    elseif (-not $rest -and $count -eq 0 -and $children[$place]) { $offers = $children[$place] | ForEach-Object { "word $_" } }
    else {
        $offers = $values[$place + ' #' + ($count + 1)]
        if (-not $offers) { $offers = $values[$place + ' #'] }
    }

    # Where nothing is returned, PowerShell offers files.
    $found = foreach ($offer in $offers) {
        if ($offer.StartsWith('stored ')) { Get-Stored $offer.Substring(7) }
        elseif ($offer.StartsWith('word ')) { $offer.Substring(5) }
    }
    $fitting = @($found | Where-Object { $_ -and $_.StartsWith($cur, [StringComparison]::Ordinal) })
    foreach ($fit in $fitting) {
        $text, $summary = $fit.Split("\`t", 2)
        if (-not $summary) { $summary = $text }
        [System.Management.Automation.CompletionResult]::new("$prefix$text", $text, 'ParameterValue', $summary)
    }
    if ($fitting.Count -eq 0 -and -not ($offers -ccontains 'file')) { '' }
}
`
}
