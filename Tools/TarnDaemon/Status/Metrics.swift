/// A status as metrics in the text form that Prometheus reads.
struct Metrics {
  private var text = ""

  static func text(_ report: StatusReport) -> String {
    var metrics = Metrics()
    metrics.add(report)
    return metrics.text
  }

  private mutating func add(_ report: StatusReport) {
    family("up_seconds", "gauge", "Seconds since the daemon began.") {
      [([], report.secondsUp)]
    }
    family("healthy", "gauge", "1 if every file is open and no sink is failing.") {
      [([], report.isHealthy ? 1 : 0)]
    }
    sinks("behind_versions", "gauge", "Versions that a sink has not been given.", report) {
      Double($0.behind)
    }
    sinks("behind_seconds", "gauge", "Seconds since a sink was last current.", report) {
      $0.secondsBehind
    }
    sinks("behind_bytes", "gauge", "Bytes of change records that a sink lacks.", report) {
      Double($0.bytesBehind ?? 0)
    }
    sinks("deliveries_total", "counter", "Batches that a sink has taken.", report) {
      Double($0.content.delivered)
    }
    sinks("delivery_seconds_total", "counter", "Seconds that these deliveries took.", report) {
      $0.content.deliverySeconds
    }
    sinks("dead_letters_total", "counter", "Objects that a receiver has refused.", report) {
      Double($0.content.deadLetters)
    }
    sinks("failing_since_seconds", "gauge", "When a sink began to fail; 0 if it works.", report) {
      $0.content.failingSince ?? 0
    }
    sinks("retries_total", "counter", "Deliveries that failed and were tried again.", report) {
      Double($0.content.retried)
    }
    sinks("restarts_total", "counter", "Batches that were a new beginning.", report) {
      Double($0.content.startedAnew)
    }
    sinks("paused", "gauge", "1 while a sink is paused.", report) { $0.content.isPaused ? 1 : 0 }
    sinks("waiting", "gauge", "1 while a sink waits for a class that a file lacks.", report) {
      $0.content.waiting == nil ? 0 : 1
    }
    sinks("skipped_total", "counter", "Batches that an operator has skipped.", report) {
      Double($0.content.skipped)
    }
    sinks("clients", "gauge", "Clients that are connected.", report) { Double($0.content.clients) }
    sinks("dropped_clients_total", "counter", "Clients that did not read.", report) {
      Double($0.content.dropped)
    }
    sinks("failing", "gauge", "1 while the last delivery has failed.", report) {
      $0.content.isFailing ? 1 : 0
    }
    addSyncs(report)
    addFiles(report)
  }

  private mutating func addSyncs(_ report: StatusReport) {
    syncs("sync_connected", "gauge", "1 while a file's session is connected.", report) {
      $0.isConnected ? 1 : 0
    }
    syncs("sync_complete", "gauge", "1 while a file has all objects that it is to have.", report) {
      $0.isComplete ? 1 : 0
    }
    syncs("sync_unsent_objects", "gauge", "Objects whose changes the server lacks.", report) {
      Double($0.unsentObjects)
    }
    syncs("sync_left_out_values", "gauge", "Values of the server that no property holds.", report) {
      Double($0.leftOutCount)
    }
    syncs("sync_refused_total", "counter", "Commits that the server has refused.", report) {
      Double($0.refused)
    }
  }

  private mutating func addFiles(_ report: StatusReport) {
    files("file_open", "gauge", "1 if a file is open.", report) { $0.waiting == nil ? 1 : 0 }
    files("file_bytes", "gauge", "The size of a file.", report) { Double($0.bytes) }
    files("file_commits_total", "counter", "The newest version of a file.", report) {
      Double($0.version)
    }
    files("file_pinned_commits", "gauge", "Commits since the oldest version that is read.", report)
    {
      Double($0.pins.first?.commitsBehind ?? 0)
    }
    files("file_pinned_bytes", "gauge", "Bytes of free pages kept for that version.", report) {
      Double($0.pinnedBytes)
    }
    files("file_pinned_seconds", "gauge", "How long that version has been an old one.", report) {
      Double($0.pins.first?.seconds ?? 0)
    }
    files("file_writing", "gauge", "1 while a process writes a file.", report) {
      $0.writer == nil ? 0 : 1
    }
  }

  private mutating func sinks(
    _ name: String, _ type: String, _ help: String, _ report: StatusReport,
    _ value: (StatusReport.Sink) -> Double
  ) {
    family(name, type, help) {
      report.sinks.map { sink in
        ([("watch", sink.watch), ("sink", sink.sink), ("file", sink.path)], value(sink))
      }
    }
  }

  private mutating func syncs(
    _ name: String, _ type: String, _ help: String, _ report: StatusReport,
    _ value: (SyncStatus) -> Double
  ) {
    if report.syncs.isEmpty { return }
    family(name, type, help) { report.syncs.map { ([("file", $0.path)], value($0)) } }
  }

  private mutating func files(
    _ name: String, _ type: String, _ help: String, _ report: StatusReport,
    _ value: (StatusReport.File) -> Double
  ) {
    family(name, type, help) { report.files.map { ([("file", $0.path)], value($0)) } }
  }

  private mutating func family(
    _ name: String, _ type: String, _ help: String,
    _ samples: () -> [(labels: [(String, String)], value: Double)]
  ) {
    text += "# HELP tarn_\(name) \(help)\n# TYPE tarn_\(name) \(type)\n"
    for sample in samples() {
      let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
      let value = sample.value
      let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
      text += "tarn_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number)\n"
    }
  }

  static func escaped(_ text: String) -> String {
    text.replacingASCII { scalar in
      switch scalar {
      case "\\", "\"": "\\\(scalar)"
      case "\n": "\\n"
      default: nil
      }
    }
  }
}
