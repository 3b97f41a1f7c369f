export const habits = [['sandbox', 'run', 'sandbox exec']] as const
