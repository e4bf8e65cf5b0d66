/** Inside wavesurfer.js's shadow root, where the page's style sheet does not reach. */
export const WAVEFORM_STYLE = `
  :host { user-select: none; min-width: 1px; }
  :host .scroll { overflow-x: auto; overflow-y: hidden; width: 100%; position: relative; scrollbar-width: none; }
  :host .wrapper { position: relative; overflow: visible; z-index: 2; cursor: text; }
  :host .canvases { min-height: 72px; pointer-events: none; }
  :host .canvases > div, :host .progress > div { position: relative; }
  :host canvas { display: block; position: absolute; top: 0; image-rendering: pixelated; }
  :host .progress { pointer-events: none; position: absolute; z-index: 2; top: 0; left: 0; width: 0; height: 100%; overflow: hidden; }
  :host .cursor { pointer-events: none; position: absolute; z-index: 5; top: 0; left: 0; height: 100%; }
`
