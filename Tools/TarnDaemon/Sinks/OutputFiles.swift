import Foundation
import TarnStore

/// The outputs that file sinks have open: one writer for each file, however many sinks write it and
/// whatever paths lead to it. Any thread.
final class OutputFiles: Sendable {
  private struct Entry {
    let output: OutputFile
    var users: Int
  }

  private let entries = Lock<[FileIdentity: Entry]>([:])

  /// Opens an output, or shares the one that is open. Whoever gets it closes it once.
  func open(_ path: String) throws(DeliveryFailure) -> OutputFile {
    if let refusal = DescriptorReserve.refusal(.output) {
      throw OutputDescriptor.failure(path, refusal)
    }
    return try entries.withLock { entries throws(DeliveryFailure) in
      let opened = try OutputDescriptor(path)
      if let known = entries[opened.identity]?.output {
        entries[opened.identity]?.users += 1
        Foundation.close(opened.descriptor)
        return known
      }
      let made = OutputFile(opened)
      do throws(DeliveryFailure) {
        try made.prepare()
      } catch {
        made.close()
        throw error
      }
      entries[opened.identity] = Entry(output: made, users: 1)
      return made
    }
  }

  /// The last of its users closes the file and gives its lock back.
  func close(_ output: OutputFile) {
    entries.withLock { entries in
      guard let users = entries[output.identity]?.users else { return }
      entries[output.identity]?.users = users - 1
      guard users == 1 else { return }
      entries[output.identity] = nil
      output.close()
    }
  }
}
