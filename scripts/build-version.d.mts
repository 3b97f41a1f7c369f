export declare function buildVersion(version: string, root: string): string
