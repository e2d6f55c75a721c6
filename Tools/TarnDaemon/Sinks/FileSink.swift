import TarnStore
import ToolSupport

/// Appends each batch to a file as a line of JSON, or writes it to a pipe or a device.
///
/// In a file, a line is on the disk before it counts as delivered.
final class FileSink: Sink {
  private let path: String
  private let outputs: OutputFiles
  /// Nil while it is not open.
  private let output = Lock<OutputFile?>(nil)
  private let hasStopped = Lock(false)

  init(_ settings: FileSettings, _ outputs: OutputFiles) {
    path = settings.path
    self.outputs = outputs
    // What a death has left is mended now, not with the next change. A failure shows then.
    output.withLock { [path] in $0 = try? outputs.open(path) }
  }

  deinit { reopen() }

  func reopen() {
    output.withLock { output in
      if let known = output.take() { outputs.close(known) }
    }
  }

  func stop() { hasStopped.withLock { $0 = true } }

  /// Writes nothing: a line would stay.
  func tryOut(_ line: [UInt8], of watch: WatchSettings) throws(DeliveryFailure) -> String {
    outputs.close(try outputs.open(path))
    return "\(path) can be written"
  }

  func deliver(_ delivery: Delivery) throws(DeliveryFailure) {
    try output.withLock { output throws(DeliveryFailure) in
      let known: OutputFile
      if let open = output {
        known = open
      } else {
        known = try outputs.open(path)
        output = known
      }
      do throws(DeliveryFailure) {
        try known.append(delivery.lines().piece) { hasStopped.withLock { $0 } }
      } catch {
        // A pipe has another reader next time, and a file is mended.
        outputs.close(known)
        output = nil
        throw error
      }
    }
  }
}
