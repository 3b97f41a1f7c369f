# fish completion for mergeq
# Made from the command tree of mergeq; `mergeq completion` prints it.

function __mergeq_children
    switch "$argv"
        case ''
            printf '%s\t%s\n' 'pr' 'Pull requests in a merge queue' 'queue' 'Merge queues' 'metrics' 'Print the metrics of merge queues in the Prometheus text format' 'flaky' 'Failing and flaky tests' 'guard' 'Keep a push from taking a pull request out of the queue: a git pre-push hook' 'api' 'Call any operation of the service by its name, and print what comes, untouched' 'auth' 'The token' 'config' 'Stored settings' 'doctor' 'Check token, base address, network, clock, git and CI, and say how to mend what is wrong' 'sandbox' 'A local service to try things on' 'completion' 'Print the completion script of a shell' 'help' 'Print the help of a command, or a topic'
        case 'pr'
            printf '%s\t%s\n' 'submit' 'Submit pull requests to the queue for testing and merging' 'cancel' 'Remove pull requests from the queue' 'restart' 'Run the tests of queued pull requests again' 'get' 'Show where pull requests stand: state, priority, and whether they are submitted' 'status' 'Show where pull requests stand: state, priority, and whether they are submitted' 'targets' 'Set the targets that a pull request impacts' 'testing' 'Show a test run: its checks, and what is tested in it' 'wait' 'Wait until pull requests have merged, failed or been cancelled' 'explain' 'Say why a pull request is not merging, and what to do next'
        case 'queue'
            printf '%s\t%s\n' 'create' 'Create the merge queue of a branch' 'get' 'Show a queue: its state, its settings and what is in it' 'update' 'Change settings of a queue; what is not named stays as it is' 'delete' 'Delete a queue; it must be empty' 'pause' 'Stop testing and merging; what is being tested finishes' 'resume' 'Test and merge again' 'drain' 'Start no new tests; merge what is being tested' 'watch' 'Watch a queue: what is in it now, and every change' 'export' 'Write the settings of a queue as a file for version control' 'diff' 'Compare queues with their files: 0 if they are the same, 20 if not' 'apply' 'Make queues as their files say: what differs is sent, what is not named is left alone' 'check' 'Check how a queue is: 0 if all conditions hold, 21 if one does not'
        case 'flaky'
            printf '%s\t%s\n' 'list' 'List the tests that failed in a range of time, each once' 'get' 'Show everything that is known about a test' 'report' 'Sum up the failing tests for a CI job: Markdown, annotations on files, or JSON' 'match' 'Tell which failures in JUnit XML files are known, quarantined or new' 'gate' 'Check how many tests failed in a range of time: 0 if few enough, 21 if more'
        case 'auth'
            printf '%s\t%s\n' 'login' 'Store a token for the base address, after the service has taken it' 'logout' 'Remove the stored token of the base address' 'status' 'Show which token would be sent, where it comes from, and where it would go' 'token' 'Print the token itself: it will be visible where this is printed'
        case 'config'
            printf '%s\t%s\n' 'list' 'Show the settings that commands use here and now' 'get' 'Print one setting as commands use it here and now' 'set' 'Store a setting, in the profile that --profile names' 'unset' 'Remove a stored setting' 'path' 'Print the file that settings are stored in'
        case 'sandbox'
            printf '%s\t%s\n' 'start' 'Serve a sandbox on loopback until it is stopped' 'exec' 'Run a command against a sandbox of its own, and pass its exit code on' 'tour' 'See the main job done: from a new queue to a merge, failing tests and metrics' 'simulate' 'What if: throughput, time in queue and CI minutes of a queue under several settings'
        case 'help'
            printf '%s\t%s\n' 'pr' 'Pull requests in a merge queue' 'queue' 'Merge queues' 'metrics' 'Print the metrics of merge queues in the Prometheus text format' 'flaky' 'Failing and flaky tests' 'guard' 'Keep a push from taking a pull request out of the queue: a git pre-push hook' 'api' 'Call any operation of the service by its name, and print what comes, untouched' 'auth' 'The token' 'config' 'Stored settings' 'doctor' 'Check token, base address, network, clock, git and CI, and say how to mend what is wrong' 'sandbox' 'A local service to try things on' 'completion' 'Print the completion script of a shell' 'help' 'Print the help of a command, or a topic' 'exit-codes' 'A topic' 'environment' 'A topic' 'formatting' 'A topic'
        case 'help pr'
            printf '%s\t%s\n' 'submit' 'Submit pull requests to the queue for testing and merging' 'cancel' 'Remove pull requests from the queue' 'restart' 'Run the tests of queued pull requests again' 'get' 'Show where pull requests stand: state, priority, and whether they are submitted' 'status' 'Show where pull requests stand: state, priority, and whether they are submitted' 'targets' 'Set the targets that a pull request impacts' 'testing' 'Show a test run: its checks, and what is tested in it' 'wait' 'Wait until pull requests have merged, failed or been cancelled' 'explain' 'Say why a pull request is not merging, and what to do next'
        case 'help queue'
            printf '%s\t%s\n' 'create' 'Create the merge queue of a branch' 'get' 'Show a queue: its state, its settings and what is in it' 'update' 'Change settings of a queue; what is not named stays as it is' 'delete' 'Delete a queue; it must be empty' 'pause' 'Stop testing and merging; what is being tested finishes' 'resume' 'Test and merge again' 'drain' 'Start no new tests; merge what is being tested' 'watch' 'Watch a queue: what is in it now, and every change' 'export' 'Write the settings of a queue as a file for version control' 'diff' 'Compare queues with their files: 0 if they are the same, 20 if not' 'apply' 'Make queues as their files say: what differs is sent, what is not named is left alone' 'check' 'Check how a queue is: 0 if all conditions hold, 21 if one does not'
        case 'help flaky'
            printf '%s\t%s\n' 'list' 'List the tests that failed in a range of time, each once' 'get' 'Show everything that is known about a test' 'report' 'Sum up the failing tests for a CI job: Markdown, annotations on files, or JSON' 'match' 'Tell which failures in JUnit XML files are known, quarantined or new' 'gate' 'Check how many tests failed in a range of time: 0 if few enough, 21 if more'
        case 'help auth'
            printf '%s\t%s\n' 'login' 'Store a token for the base address, after the service has taken it' 'logout' 'Remove the stored token of the base address' 'status' 'Show which token would be sent, where it comes from, and where it would go' 'token' 'Print the token itself: it will be visible where this is printed'
        case 'help config'
            printf '%s\t%s\n' 'list' 'Show the settings that commands use here and now' 'get' 'Print one setting as commands use it here and now' 'set' 'Store a setting, in the profile that --profile names' 'unset' 'Remove a stored setting' 'path' 'Print the file that settings are stored in'
        case 'help sandbox'
            printf '%s\t%s\n' 'start' 'Serve a sandbox on loopback until it is stopped' 'exec' 'Run a command against a sandbox of its own, and pass its exit code on' 'tour' 'See the main job done: from a new queue to a merge, failing tests and metrics' 'simulate' 'What if: throughput, time in queue and CI minutes of a queue under several settings'
    end
end

function __mergeq_flags
    switch "$argv"
        case ''
            printf '%s\t%s\n' '--version' 'Print the version'
        case 'pr submit'
            printf '%s\t%s\n' '--stop-on-error' 'With several, stop at the first failure' '--priority=' 'urgent, high, medium, low, or 0 (first) to 255 (last)' '--no-batch' 'Test it alone, never in a batch' '--wait' 'Wait until it has merged, failed or been cancelled' '--until=' 'How far: merged, tests-passed, testing or left (default merged)' '--interval=' 'Time between polls, at least 1s (default auto)' '--grace=' 'For so long, not found means not there yet (default 90s)' '--match-head=' 'End with 14 when the head of the pull request is another commit' '--max-errors=' 'Give up after so many failed polls in a row (default 10)' '--fail-on-paused' 'End with 8 when the queue is paused' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'pr cancel'
            printf '%s\t%s\n' '--stop-on-error' 'With several, stop at the first failure' '-y|--yes' 'Do it without asking' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'pr restart'
            printf '%s\t%s\n' '--stop-on-error' 'With several, stop at the first failure' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'pr get'
            printf '%s\t%s\n' '--stop-on-error' 'With several, stop at the first failure' '--head=' 'Find it by its head branch instead of its number' '--exit-status' 'Exit 0 if it was merged, 3 if it failed, 10 if cancelled, 8 if not settled' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'pr targets'
            printf '%s\t%s\n' '--sha=!' 'Head commit of the pull request that the targets belong to' '--no-sha!' 'Send no head commit' '--too-large=' 'What to do with a list over 20 MiB: send "ALL", or fail (all, fail; default all)' '--forked-run=' 'GitHub run id of a pull request from a fork, sent in place of the token' '--from=' 'Read them from a file, one a line (- is standard input)' '--from-json=' 'Read them from a JSON array of strings' '--all' 'The pull request impacts every target' '--none' 'The pull request impacts no target' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'pr testing'
            printf '%s\t%s\n' '--pr=' 'Ask by pull request instead, where the service takes that' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'pr wait'
            printf '%s\t%s\n' '--stop-on-error' 'With several, stop at the first failure' '--until=' 'How far: merged, tests-passed, testing or left (default merged)' '--interval=' 'Time between polls, at least 1s (default auto)' '--grace=' 'For so long, not found means not there yet (default 90s)' '--match-head=' 'End with 14 when the head of the pull request is another commit' '--max-errors=' 'Give up after so many failed polls in a row (default 10)' '--fail-on-paused' 'End with 8 when the queue is paused' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'pr explain'
            printf '%s\t%s\n' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue create'
            printf '%s\t%s\n' '--mode=' 'One line (single), or lanes by impacted targets (parallel)' '--concurrency=' 'Test runs at a time' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue get'
            printf '%s\t%s\n' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue update'
            printf '%s\t%s\n' '--state=' 'State of the queue: running, paused, draining' '--mode=' 'One line (single), or lanes by impacted targets (parallel)' '--concurrency=' 'Test runs at a time' '--bisection-concurrency=' 'Test runs at a time while a failed batch is split' '--testing-timeout-minutes=' 'Limit of a test run, in minutes; 0 is none' '--pending-failure-depth=' 'Runs behind a failure to wait for before it counts' '--can-optimistically-merge!' 'A pass counts for all ahead' '--no-can-optimistically-merge!' 'The opposite of --can-optimistically-merge' '--batch!' 'Test several pull requests together' '--no-batch!' 'The opposite of --batch' '--batching-min-size=' 'Size of a batch' '--batching-max-wait-time-minutes=' 'Time to fill a batch, in minutes' '--create-prs-for-testing-branches!' 'Draft pull requests for test branches' '--no-create-prs-for-testing-branches!' 'The opposite of --create-prs-for-testing-branches' '--comments-enabled!' 'Comments on pull requests' '--no-comments-enabled!' 'The opposite of --comments-enabled' '--commands-enabled!' 'Commands in comments' '--no-commands-enabled!' 'The opposite of --commands-enabled' '--status-check-enabled!' 'A status check on pull requests' '--no-status-check-enabled!' 'The opposite of --status-check-enabled' '--direct-merge-mode=' 'Merge untested when up to date and the queue is empty: off, always' '--optimization-mode=' 'Reuse failures in a bisection: off, bisection_skip_redundant_tests' '--merge-method=' 'How to merge: merge_commit, squash, rebase' '--required-status=+' 'A status that a test run must pass; overrides branch protection (repeatable)' '--delete-required-statuses' 'Drop the override of required statuses' '--extension-enabled!' 'The browser extension' '--no-extension-enabled!' 'The opposite of --extension-enabled' '--label-commands-enabled!' 'Commands by label' '--no-label-commands-enabled!' 'The opposite of --label-commands-enabled' '--state-labels-enabled!' 'Labels that show the state' '--no-state-labels-enabled!' 'The opposite of --state-labels-enabled' '--enqueueing-label=' 'Label that submits a pull request' '--not-ready-timeout-hours=' 'Cancel what is not ready after so many hours' '--test-branch-construction-mode=' 'How test branches are made: rename_temp_branch, push_new_branch_from_temp' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue delete'
            printf '%s\t%s\n' '-y|--yes' 'Do it without asking' '--cancel-all' 'Cancel everything that is in the queue first' '--drain-first' 'Stop new tests first, and wait until nothing is being tested' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue pause'
            printf '%s\t%s\n' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue resume'
            printf '%s\t%s\n' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue drain'
            printf '%s\t%s\n' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue watch'
            printf '%s\t%s\n' '--once' 'Print the queue as it is now, and end' '--interval=' 'Time between readings, at least 1s (default 10s)' '--for=' 'End after so long, with 0' '--max-errors=' 'End after so many failed readings in a row (default 10)' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue export'
            printf '%s\t%s\n' '-f|--file=' 'Write there (.yaml, .yml or .json) instead of to standard output; comments are kept' '--include-state' 'Let the queue\'s state be part of it; without this it is left alone' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue diff'
            printf '%s\t%s\n' '-f|--file=' 'The file of a queue (- is standard input), or a folder of such files' '--include-state' 'Let the queue\'s state be part of it; without this it is left alone' '--allow-unknown' 'Allow settings that neither mergeq nor the queue knows' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue apply'
            printf '%s\t%s\n' '-f|--file=' 'The file of a queue (- is standard input), or a folder of such files' '-y|--yes' 'Do it without asking' '--if-match=' 'Only if the live settings are those that this digest tells' '--include-state' 'Let the queue\'s state be part of it; without this it is left alone' '--allow-unknown' 'Allow settings that neither mergeq nor the queue knows' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'queue check'
            printf '%s\t%s\n' '--max-depth=' 'It lists at most so many pull requests' '--stalled=' 'Of the pull requests that it lists, one changed its state in that time; or it lists none' '--not-paused' 'It is not PAUSED' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'metrics'
            printf '%s\t%s\n' '--all-repos' 'All repositories of the organization (the default without --repo)'
        case 'metrics check'
            printf '%s\t%s\n' '--all-repos' 'All repositories of the organization (the default without --repo)'
        case 'metrics watch'
            printf '%s\t%s\n' '--all-repos' 'All repositories of the organization (the default without --repo)' '--once' 'Print the metrics as they are now, and end' '--interval=' 'Time between readings, at least 1s (default 60s)' '--for=' 'End after so long, with 0' '--max-errors=' 'End after so many failed readings in a row (default 10)'
        case 'flaky list'
            printf '%s\t%s\n' '--since=' 'From so long ago, or from that instant on (default 24h)' '--until=' 'Until so long ago, or until that instant (default now)' '--start=' 'Start of the range, inclusive' '--end=' 'End of the range, exclusive' '--limit=' 'At most so many tests' '--page-size=' 'Tests a page, 1 to 100 (default 100)' '--page-token=' 'One page, as the service gives it' '--max-pages=' 'Stop after so many pages (default 10000)' '--owner=' 'Only tests of this code owner' '--quarantined!' 'Only quarantined tests' '--no-quarantined!' 'The opposite of --quarantined' '--min-failure-rate=' 'Only tests that failed at least so often in the last 7 days' '--name=' 'Only tests whose name matches' '--path=' 'Only tests whose file matches' '--sort=' 'Collect all, then order by impact, rate, recent or name' '--resume-file=' 'Note in this file how far the list was printed; a second run goes on from there' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'flaky get'
            printf '%s\t%s\n' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'flaky report'
            printf '%s\t%s\n' '--since=' 'From so long ago, or from that instant on (default 24h)' '--until=' 'Until so long ago, or until that instant (default now)' '--start=' 'Start of the range, inclusive' '--end=' 'End of the range, exclusive' '--limit=' 'At most so many tests' '--page-size=' 'Tests a page, 1 to 100 (default 100)' '--page-token=' 'One page, as the service gives it' '--max-pages=' 'Stop after so many pages (default 10000)' '--owner=' 'Only tests of this code owner' '--quarantined!' 'Only quarantined tests' '--no-quarantined!' 'The opposite of --quarantined' '--min-failure-rate=' 'Only tests that failed at least so often in the last 7 days' '--name=' 'Only tests whose name matches' '--path=' 'Only tests whose file matches' '--sort=' 'Collect all, then order by impact, rate, recent or name' '--format=' 'markdown for a summary, github for annotations, or json (default markdown)' '--max-chars=' 'At most so many characters, at least 400 (default 65536 for markdown)' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'flaky match'
            printf '%s\t%s\n' '--since=' 'From so long ago, or from that instant on (default 24h)' '--until=' 'Until so long ago, or until that instant (default now)' '--start=' 'Start of the range, inclusive' '--end=' 'End of the range, exclusive' '--page-size=' 'Tests a page, 1 to 100 (default 100)' '--max-pages=' 'Stop after so many pages (default 10000)' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'flaky gate'
            printf '%s\t%s\n' '--since=' 'From so long ago, or from that instant on (default 24h)' '--until=' 'Until so long ago, or until that instant (default now)' '--start=' 'Start of the range, inclusive' '--end=' 'End of the range, exclusive' '--page-size=' 'Tests a page, 1 to 100 (default 100)' '--max-pages=' 'Stop after so many pages (default 10000)' '--owner=' 'Only tests of this code owner' '--quarantined!' 'Only quarantined tests' '--no-quarantined!' 'The opposite of --quarantined' '--min-failure-rate=' 'Only tests that failed at least so often in the last 7 days' '--name=' 'Only tests whose name matches' '--path=' 'Only tests whose file matches' '--max=' 'At most so many failing tests' '--baseline=' 'Tests that do not count: their ids, one a line, or what `flaky list` printed as JSON or NDJSON' '--on-unavailable=' 'What to do when the service cannot be reached: pass with 0, or fail with 7 (default fail)' '--set=+' 'Add a field to the body: JSON or text, dots make nesting (repeatable)'
        case 'guard'
            printf '%s\t%s\n' '--install' 'Install it as the pre-push hook of this checkout' '--uninstall' 'Remove it again' '--fail-closed' 'Stop the push, too, when the queue cannot be asked'
        case 'api'
            printf '%s\t%s\n' '-X|--method=' 'get or post (default the operation\'s own)' '-F|--field=+' 'A field of the body: JSON or text, dots make nesting (repeatable)' '--input=' 'The body, as a JSON object, from a file (- is standard input)' '--include' 'Print the status line and the headers first'
        case 'auth login'
            printf '%s\t%s\n' '--with-token' 'Read the token from standard input' '--no-verify' 'Store it without asking the service'
        case 'config list'
            printf '%s\t%s\n' '--show-origin' 'Also say where each value comes from'
        case 'sandbox start'
            printf '%s\t%s\n' '--port=' 'Port to listen on (default any free port)' '--speed=' 'How many times faster than usual (at 1 a test run takes about two seconds)' '--seed=' 'What its data is made from: the same seed gives the same data' '--scenario=' 'How pull requests fare: happy, flaky, failure, cancelled, batch-failure, paused, outage, slow, or a file (default happy)' '--dialect=' 'How it answers: as the API document says, or as the hosted service does' '--queue=+' 'A further queue (repeatable)'
        case 'sandbox exec'
            printf '%s\t%s\n' '--port=' 'Port to listen on (default any free port)' '--speed=' 'How many times faster than usual (at 1 a test run takes about two seconds)' '--seed=' 'What its data is made from: the same seed gives the same data' '--scenario=' 'How pull requests fare: happy, flaky, failure, cancelled, batch-failure, paused, outage, slow, or a file (default happy)' '--dialect=' 'How it answers: as the API document says, or as the hosted service does' '--queue=+' 'A further queue (repeatable)'
        case 'sandbox tour'
            printf '%s\t%s\n' '--speed=' 'How many times faster than usual (at 1 a test run takes about two seconds)' '--seed=' 'What its data is made from: the same seed gives the same data' '--scenario=' 'How pull requests fare: happy, flaky, failure, cancelled, batch-failure, paused, outage, slow, or a file (default happy)' '--dialect=' 'How it answers: as the API document says, or as the hosted service does' '--queue=+' 'A further queue (repeatable)'
        case 'sandbox simulate'
            printf '%s\t%s\n' '--prs-per-hour=' 'How many pull requests are submitted in an hour' '--test-minutes=' 'How long a test run takes, in minutes' '--failure-rate=' 'Share of pull requests that fail, 0 to 0.9 (default 0)' '--concurrency=' 'Test runs at a time; several are compared (default 1)' '--batch=' 'Size of a batch, where 1 is none; several are compared (default 1)' '--weeks=' 'How long to simulate (default 4)' '--seed=' 'The same seed gives the same weeks (default 1)' '--from-metrics' 'Take what is not given from the metrics of the last hour'
    end
    printf '%s\t%s\n' '-R|--repo=' 'Repository, as [host/]owner/name' '-b|--target-branch=' 'Branch that the queue merges into' '--org=' 'Slug of the organization (failing tests)' '--base-url=' 'Base address of the service (default https://api.trunk.io/v1)' '--profile=' 'Profile of the stored settings (default default)' '-o|--output=' 'Format: table, json, ndjson, csv, markdown (default table)' '--json' 'Short for --output json' '--fields=' 'Print only these fields' '--dry-run' 'Print what would be sent or changed, and do nothing' '--timeout=' 'Limit of an attempt; typed for a wait, of the whole wait (default 30s, 60s for a change)' '--retries=' 'How often a request may be repeated; 0 is one request (default 3)' '--max-answer=' 'Largest answer to read, such as 128MiB (default 8MiB; 64MiB for lists of tests, metrics and api)' '--ca-file=' 'A file of further certificate authorities (PEM)' '-q|--quiet' 'Say nothing on standard error but warnings and errors' '-v|--verbose' 'Tell requests, timing, and where each setting came from' '--color=' 'Colour: auto, always or never (default auto)' '--no-input' 'Never ask; what would be asked is an error' '-h|--help' 'Print help'
end

function __mergeq_value
    switch "$argv"
        case '--repo'
            __mergeq_stored repo
        case '--target-branch'
            __mergeq_stored target-branch
        case '--org'
            __mergeq_stored org
        case '--base-url'
            __mergeq_stored base-url
        case '--profile'
            __mergeq_stored profile
        case '--output'
            printf 'word %s\n' 'table' 'json' 'ndjson' 'csv' 'markdown'
        case '--ca-file'
            echo file
        case '--color'
            printf 'word %s\n' 'auto' 'always' 'never'
        case 'pr submit --priority'
            printf 'word %s\n' 'urgent' 'high' 'medium' 'low'
        case 'pr submit --until'
            printf 'word %s\n' 'merged' 'tests-passed' 'testing' 'left'
        case 'pr submit --interval'
            printf 'word %s\n' 'auto'
        case 'pr submit --match-head'
            printf 'word %s\n' 'HEAD'
        case 'pr targets --too-large'
            printf 'word %s\n' 'all' 'fail'
        case 'pr targets --from'
            echo file
        case 'pr targets --from-json'
            echo file
        case 'pr wait --until'
            printf 'word %s\n' 'merged' 'tests-passed' 'testing' 'left'
        case 'pr wait --interval'
            printf 'word %s\n' 'auto'
        case 'pr wait --match-head'
            printf 'word %s\n' 'HEAD'
        case 'queue create --mode'
            printf 'word %s\n' 'single' 'parallel'
        case 'queue update --state'
            printf 'word %s\n' 'running' 'paused' 'draining'
        case 'queue update --mode'
            printf 'word %s\n' 'single' 'parallel'
        case 'queue update --direct-merge-mode'
            printf 'word %s\n' 'off' 'always'
        case 'queue update --optimization-mode'
            printf 'word %s\n' 'off' 'bisection_skip_redundant_tests'
        case 'queue update --merge-method'
            printf 'word %s\n' 'merge_commit' 'squash' 'rebase'
        case 'queue update --test-branch-construction-mode'
            printf 'word %s\n' 'rename_temp_branch' 'push_new_branch_from_temp'
        case 'queue export --file'
            echo file
        case 'queue diff --file'
            echo file
        case 'queue apply --file'
            echo file
        case 'flaky list --sort'
            printf 'word %s\n' 'impact' 'rate' 'recent' 'name'
        case 'flaky list --resume-file'
            echo file
        case 'flaky report --sort'
            printf 'word %s\n' 'impact' 'rate' 'recent' 'name'
        case 'flaky report --format'
            printf 'word %s\n' 'markdown' 'github' 'json'
        case 'flaky match #*'
            echo file
        case 'flaky gate --baseline'
            echo file
        case 'flaky gate --on-unavailable'
            printf 'word %s\n' 'pass' 'fail'
        case 'api --method'
            printf 'word %s\n' 'get' 'post'
        case 'api --input'
            echo file
        case 'api #1'
            printf 'word %s\n' 'submitPullRequest' 'cancelPullRequest' 'restartTestsOnPullRequest' 'getSubmittedPullRequest' 'setImpactedTargets' 'getMergeQueueTestingDetails' 'createQueue' 'getQueue' 'updateQueue' 'deleteQueue' 'getMergeQueueMetrics' 'flaky-tests/list-failing-tests' 'flaky-tests/get-test-details'
        case 'config get #1'
            printf 'word %s\n' 'repo' 'target-branch' 'org' 'base-url' 'output' 'timeout' 'retries' 'color'
        case 'config set #1'
            printf 'word %s\n' 'repo' 'target-branch' 'org' 'base-url' 'output' 'timeout' 'retries' 'color'
        case 'config unset #1'
            printf 'word %s\n' 'repo' 'target-branch' 'org' 'base-url' 'output' 'timeout' 'retries' 'color'
        case 'sandbox start --scenario'
            printf 'word %s\n' 'happy' 'flaky' 'failure' 'cancelled' 'batch-failure' 'paused' 'outage' 'slow'; echo file
        case 'sandbox start --dialect'
            printf 'word %s\n' 'document' 'hosted'
        case 'sandbox exec --scenario'
            printf 'word %s\n' 'happy' 'flaky' 'failure' 'cancelled' 'batch-failure' 'paused' 'outage' 'slow'; echo file
        case 'sandbox exec --dialect'
            printf 'word %s\n' 'document' 'hosted'
        case 'sandbox exec #*'
            echo program
        case 'sandbox tour --scenario'
            printf 'word %s\n' 'happy' 'flaky' 'failure' 'cancelled' 'batch-failure' 'paused' 'outage' 'slow'; echo file
        case 'sandbox tour --dialect'
            printf 'word %s\n' 'document' 'hosted'
        case 'completion #1'
            printf 'word %s\n' 'bash' 'zsh' 'fish' 'powershell'
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
    set -l pattern '^      "'$argv[1]'": "([A-Za-z0-9][A-Za-z0-9._@+/:~-]*)",?$'
    test $argv[1] = profile; and set pattern '^    "([A-Za-z0-9][A-Za-z0-9._@+-]*)": \{'
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
    set -l children (__mergeq_children '' | string replace -r '\t.*' '')
    set -l flags (__mergeq_flags '')
    for word in $typed[2..]
        if test -n "$wants"
            set wants ''
        else if test $rest -eq 0; and test "$word" = --
            set rest 1
        else if test $rest -eq 0; and string match -q -- '-?*' "$word"
            set -l name (string replace -r '=.*' '' -- "$word")
            set -l row (__mergeq_row "$name" $flags)
            set name (string replace -r '^-\w\|' '' -- "$row" | string replace -r '[=+!].*' '')
            set -a given "$name"
            if string match -q -- '*=*' "$row"; and not string match -q -- '*=*' "$word"
                set wants "$name"
            end
        else if test $rest -eq 0; and test $count -eq 0; and contains -- "$word" $children
            set place (string trim -- "$place $word")
            switch "$place"
                case 'pr status'
                    set place 'pr get'
            end
            set children (__mergeq_children "$place" | string replace -r '\t.*' '')
            set flags (__mergeq_flags "$place")
        else
            set count (math $count + 1)
        end
    end

    if test -z "$wants"; and test $rest -eq 0; and string match -q -- '--*=*' "$cur"
        set -l row (__mergeq_row (string replace -r '=.*' '' -- "$cur") $flags)
        string match -q -- '*=*' "$row"; or return
        set wants (string replace -r '^-\w\|' '' -- "$row" | string replace -r '[=+!].*' '')
        set prefix "$wants="
    end
    if test -n "$wants"
        set -l offers (__mergeq_value "$place $wants")
        test -n "$offers"; or set offers (__mergeq_value "$wants")
        string replace -r -- '^word ' "$prefix" $offers
    else if test $rest -eq 0; and string match -q -- '-*' "$cur"
        for flag in $flags
            set -l parts (string split -m 1 \t -- $flag)
            set -l name (string replace -r '^-\w\|' '' -- "$parts[1]" | string replace -r '[=+!].*' '')
            if not string match -q -- '*+*' "$parts[1]"; and contains -- "$name" $given
                continue
            end
            if string match -q -- '*!' "$parts[1]"
                set -l opposite (string replace -r -- '^--' --no- "$name")
                string match -q -- '--no-*' "$name"; and set opposite (string replace -r -- '^--no-' -- "$name")
                contains -- "$opposite" $given; and continue
            end
            printf '%s\t%s\n' "$name" "$parts[2]"
        end
    else if test $rest -eq 0; and test $count -eq 0; and test -n "$children"
        __mergeq_children "$place"
    else
        set -l offers (string replace -r '^word ' '' -- (__mergeq_value "$place #"(math $count + 1)))
        test $count -gt 0; and set offers (string replace -r '^program$' file -- $offers)
        printf '%s\n' $offers
    end
end

# The row of a flag among others, by its long or its short name.
function __mergeq_row
    for flag in $argv[2..]
        set -l token (string split -f 1 \t -- $flag)
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
