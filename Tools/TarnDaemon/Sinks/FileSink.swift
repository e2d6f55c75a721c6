import Foundation
import TarnStore
import ToolSupport

/// Appends each batch to a file as a line of JSON.
///
/// A line is on the disk before it counts as delivered. A last line that a death has cut off is
/// removed: its batch comes again.
final class FileSink: Sink {
  private let path: String
  private let descriptor = Lock<Int32>(-1)

  init(_ settings: FileSettings) {
    path = settings.path
    // What a death has left is mended now, not with the next change.
    descriptor.withLock { [path] in $0 = (try? Self.open(path)) ?? -1 }
  }

  deinit { close() }

  private func close() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { Foundation.close(descriptor) }
      descriptor = -1
    }
  }

  func reopen() { close() }
  func stop() { close() }

  func deliver(_ delivery: Delivery) throws(DeliveryFailure) {
    try descriptor.withLock { descriptor throws(DeliveryFailure) in
      if descriptor < 0 { descriptor = try Self.open(path) }
      let start = lseek(descriptor, 0, SEEK_END)
      do throws(DeliveryFailure) {
        let line = delivery.line()
        while let piece = line.next() { try write(piece, descriptor) }
        guard fdatasync(descriptor) == 0 else { throw failure("cannot write") }
      } catch {
        // Nobody shall read half a line.
        _ = ftruncate(descriptor, start)
        throw error
      }
    }
  }

  private func failure(_ action: String) -> DeliveryFailure { Self.failure(action, path) }

  private static func failure(_ action: String, _ path: String) -> DeliveryFailure {
    DeliveryFailure(description: "\(action) \(path): \(String(cString: strerror(errno)))")
  }

  private static func open(_ path: String) throws(DeliveryFailure) -> Int32 {
    let opened = Foundation.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
    guard opened >= 0 else { throw failure("cannot open", path) }
    mend(opened)
    return opened
  }

  /// Cuts off what follows the last line feed.
  private static func mend(_ descriptor: Int32) {
    let size = lseek(descriptor, 0, SEEK_END)
    var end = size
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while end > 0 {
      let start = max(0, end - off_t(bytes.count))
      let count = pread(descriptor, &bytes, Int(end - start), start)
      if count <= 0 { return }
      if let last = bytes[..<count].lastIndex(of: 0x0a) {
        end = start + off_t(last) + 1
        break
      }
      end = start
    }
    if end < size { _ = ftruncate(descriptor, end) }
  }

  private func write(_ bytes: [UInt8], _ descriptor: Int32) throws(DeliveryFailure) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        Foundation.write(descriptor, raw.baseAddress! + written, raw.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("cannot write") }
      written += count
    }
  }
}
