import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/**
 * wavesurfer.js writes a <style> into its shadow root, which a strict Content-Security-Policy
 * refuses. It is taken out here; components/Waveform.tsx adopts a style sheet in its place.
 */
function withoutInlineStyle(): Plugin {
  return {
    name: 'without-inline-style',
    transform(code, id) {
      if (!/wavesurfer\.js\/dist\/wavesurfer\.esm\.js$/.test(id)) return null
      const stripped = code.replace(/<style\$\{.*?<\/style>/s, '')
      if (stripped === code) this.error('wavesurfer.js has no inline style any more: see vite.config.ts')
      return { code: stripped, map: null }
    },
  }
}

export default defineConfig({
  base: './',
  plugins: [react(), withoutInlineStyle()],
  optimizeDeps: { exclude: ['wavesurfer.js'] },
  build: {
    outDir: '../src/ssdpt/server/static',
    emptyOutDir: true,
    target: ['chrome109', 'firefox115', 'safari16'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:8000' } },
  // Computers are busy with other tests as well: only what hangs fails by its time.
  test: { include: ['tests/**/*.test.{ts,mjs}'], testTimeout: 120_000, hookTimeout: 120_000 },
} as Parameters<typeof defineConfig>[0])
