/** The end of a name that matches every field of an object whose fields are not known: `labels.<name>`. */
export const anyField = '.<name>'

const nested = (name: string, fields: readonly string[]): readonly string[] => [
  name,
  ...fields.map(field => `${name}.${field}`),
]

const open = (name: string): readonly string[] => [name, `${name}${anyField}`]

/** The fields of a pull request in the list of a queue (docs/reference/service.md, "getQueue"). */
const entryFields: readonly string[] = [
  'prNumber',
  'prTitle',
  'prAuthor',
  'prSha',
  'prBaseBranch',
  'state',
  'stateChangedAt',
  'priorityName',
  'priorityValue',
  'usedDefaultPriorityName',
  'skipTheLine',
  'noBatch',
  'id',
]

/** The fields of a submitted pull request (docs/reference/service.md, "getSubmittedPullRequest"). */
export const pullRequestFields: readonly string[] = [
  ...entryFields,
  'isCurrentlySubmittedToQueue',
  'forceEnqueued',
  ...nested('readiness', [
    'doesBaseBranchMatch',
    'requiresImpactedTargets',
    'hasImpactedTargets',
    'gitHubMergeability',
  ]),
  'verifiedByTestRun',
  ...open('timeline'),
]

/** The fields of the settings of a queue (docs/reference/service.md, "Queue settings"). */
export const queueSettingFields: readonly string[] = [
  'branch',
  'state',
  'mode',
  'concurrency',
  'bisectionConcurrency',
  'testingTimeoutMinutes',
  'pendingFailureDepth',
  'canOptimisticallyMerge',
  'batch',
  'batchingMinSize',
  'batchingMaxWaitTimeMinutes',
  'createPrsForTestingBranches',
  'commentsEnabled',
  'commandsEnabled',
  'statusCheckEnabled',
  'directMergeMode',
  'optimizationMode',
  'mergeMethod',
  'requiredStatuses',
  'extensionEnabled',
  'labelCommandsEnabled',
  'stateLabelsEnabled',
  'enqueueingLabel',
  'notReadyTimeoutHours',
  'testBranchConstructionMode',
  ...open('allowedBotSubmitters'),
  ...open('batchingRules'),
]

/** The fields of a queue (docs/reference/service.md, "getQueue"). */
export const queueFields: readonly string[] = [
  ...queueSettingFields,
  ...nested('enqueuedPullRequests', entryFields),
]

/** The fields of a test run (docs/reference/service.md, "getMergeQueueTestingDetails"). */
export const testRunFields: readonly string[] = [
  'status',
  'createdAt',
  'testBranch',
  'testBranchSha',
  ...nested('testedPullRequests', ['prNumber', 'prUrl', 'title']),
  ...nested('checkSuites', nested('checkRuns', ['name', 'url', 'status', 'conclusion'])),
  ...nested('statusChecks', ['context', 'url', 'state']),
  'requiredStatuses',
  'requiredStatusesSource',
  'impactedTargetsForTestedPrs',
  'impactedTargets',
  'dependentPrs',
]

/** The fields of a test (docs/reference/service.md, "Test records"). */
export const testFields: readonly string[] = [
  'id',
  'name',
  'variant',
  ...nested('status', ['value', 'reason', 'timestamp']),
  'quarantined',
  'failure_rate_last_24h',
  'failure_rate_last_7d',
  'pull_requests_impacted_last_7d',
  ...nested('most_common_failures', ['summary', 'occurrence_count', 'last_occurrence']),
  'codeowners',
  'file_path',
  'parent',
  'classname',
  ...nested('repository', ['html_url']),
  'html_url',
  ...nested('ticket', ['html_url']),
]

/** The fields of a quarantined test (docs/reference/service.md, "list-quarantined-tests"). */
export const quarantinedTestFields: readonly string[] = [
  'name',
  'variant',
  'status',
  'quarantine_setting',
  'status_last_updated_at',
  'codeowners',
  'file',
  'parent',
  'classname',
  'test_case_id',
]

/** The fields of a sample of a metric, as `metrics --json` prints it. */
export const sampleFields: readonly string[] = ['name', 'type', ...open('labels'), 'value']

export const testListFields: readonly string[] = [...nested('tests', testFields), ...open('page')]

export const quarantinedTestListFields: readonly string[] = [
  ...nested('quarantined_tests', quarantinedTestFields),
  ...open('page'),
]

export const pullRequestListFields: readonly string[] = [
  ...nested('pullRequests', pullRequestFields),
  'nextCursor',
]

export const testDocumentFields: readonly string[] = nested('test', testFields)
