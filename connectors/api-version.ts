/**
 * The version of the plugin API: what `tidemark/connector`, `tidemark/check`, `tidemark/check-kind` and
 * `tidemark/destination` export. Its first number changes when an extension has to be changed, the second when something
 * is added. `pluginApi` of package.json says the same to tools.
 */
export const API_VERSION = '1.0.0'
