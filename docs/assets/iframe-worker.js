// The search runs in a worker, which browsers refuse to pages that are opened as files. There, this class takes the
// place of Worker: it runs the script in a hidden frame. The name is the one that the theme looks for.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.appendChild(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = (data) => this.receive(data)
      this.inside.importScripts = (...urls) => Promise.all(urls.map((one) => this.load(one)))
      this.ready = this.load(url)
    }

    // Run a script inside the frame.
    load(url) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script")
        script.src = String(url)
        script.onload = done
        script.onerror = failed
        this.inside.document.body.appendChild(script)
      })
    }

    // From the script to the page.
    receive(data) {
      setTimeout(() => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      })
    }

    // From the page to the script.
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })))
    }
  }
  window.Worker = window.IFrameWorker
}
