import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the files of Swagger UI lie. */
export const swaggerFolder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/**
 * What the page may load: its own files and what they ask of this host. Swagger UI's style sheet holds its
 * icons as data addresses; it styles elements by script, which `style-src` does not touch.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page of the interactive reference. */
export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tidemark: reference</title>
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
    <link rel="icon" type="image/png" sizes="32x32" href="/docs/assets/favicon-32x32.png">
  </head>
  <body>
    <noscript>This page needs JavaScript; the same is in <a href="/openapi.json">/openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

/** A file of its own, since the policy allows no script inside the page. Swagger UI would ask another host to validate. */
export const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
})
`
