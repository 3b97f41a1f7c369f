export const habits = [['guard', 'status --check', 'guard check']] as const
