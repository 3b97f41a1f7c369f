export const habits = [[', flaky', 'ticket create-ticket', 'flaky link']] as const
