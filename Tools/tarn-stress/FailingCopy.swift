import Foundation
import StressFaults
import Tarn
import TarnStore
import ToolSupport

/// Copies and compactions of a file during which each write to the disk, each sync and each naming
/// fails once: the calls of one that succeeds are counted, and then each of them fails in turn.
///
/// One line for each: the number of the call, the error's code, and the files in the folder.
struct FailingCopy {
  private let path: String
  private let number: Int32

  private var folder: String { (path as NSString).deletingLastPathComponent }
  private var destination: String { folder + "/copy.realm" }

  /// - Parameters:
  ///   - number: the error number.
  ///   - kind: `copy`, `replace` for a copy that takes the place of another, or `compact`.
  static func run(_ path: String, _ number: Int, _ kind: String) throws {
    let failing = FailingCopy(path: path, number: Int32(number))
    if kind == "compact" {
      return failing.failEach { _ = try StoreRegistry.compact(path) }
    }
    // Open all the time, so that no call of opening fails.
    var options = Store.Options()
    options.adoptsClasses = false
    let copy = StoreCopy(try StoreRegistry.open(path, options).newestSnapshot())
    let replaces = kind == "replace"
    if replaces {
      _ = try copy.write(to: failing.destination)
      _ = try copy.write(to: failing.destination, replacing: true)
    }
    failing.failEach { _ = try copy.write(to: failing.destination, replacing: replaces) }
  }

  private func failEach(_ body: () throws -> Void) {
    var isFailing = true
    var call: Int32 = 1
    while isFailing {
      stress_fail_call(stress_disk.rawValue, call, number)
      let outcome = outcome(body)
      isFailing = stress_count() >= call
      stress_fail_call(0, 0, 0)
      WorkerLine.say("\(isFailing ? call : 0) \(outcome) \(names)")
      call += 1
    }
  }

  private func outcome(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "fine"
    } catch let error as StorageError {
      return "\(error.code.rawValue)"
    } catch {
      return "\(error)"
    }
  }

  /// The files in the folder but for companions.
  private var names: String {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return all.filter { !$0.hasSuffix("-lock") && !$0.hasSuffix("-signal") }.sorted()
      .joined(separator: " ")
  }
}
