import Dispatch
import Foundation
import TarnStore
import ToolSupport

/// The files of all watches: waits for those that do not exist yet, and notices those that were
/// replaced.
///
/// Threading: everything on its own queue.
final class FileTable: Sendable {
  /// Called on the table's queue.
  protocol Listener: AnyObject, Sendable {
    func begin(_ file: OpenFile)
    func end(_ path: String)
    /// Why the file at a path cannot be opened.
    func isWaiting(for path: String, _ reason: String)
  }

  private struct Entry {
    var file: OpenFile?
    var listeners: [any Listener] = []
    var reason: String?
  }

  private struct State {
    /// Runs with each look.
    var onLook: (@Sendable () -> Void)?
    var entries: [String: Entry] = [:]
    var patterns: [(pattern: String, listener: any Listener)] = []
    var hasEnded = false
  }

  /// How often it looks for files.
  static let period = DispatchTimeInterval.milliseconds(500)

  private let queue = DispatchQueue(label: "tarn-files")
  private let state = Lock(State())
  private nonisolated(unsafe) let timer: any DispatchSourceTimer  // because: set once

  init() {
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Self.period, repeating: Self.period)
    timer.setEventHandler { [weak self] in self?.look() }
    timer.resume()
  }

  deinit { timer.cancel() }

  /// What runs with each look, on the table's queue.
  func onLook(_ body: (@Sendable () -> Void)?) { state.withLock { $0.onLook = body } }

  /// Adds a listener for a path or a pattern. Files that are there are open when this returns.
  func add(_ pattern: String, _ listener: any Listener) {
    queue.sync {
      if Self.isPattern(pattern) { state.withLock { $0.patterns.append((pattern, listener)) } }
      for path in Self.paths(of: pattern) { add(listener, at: path) }
    }
  }

  /// Removes a listener. It is not called any more when this returns.
  func remove(_ listener: any Listener) {
    queue.sync {
      state.withLock { state in
        state.patterns.removeAll { $0.listener === listener }
        for path in state.entries.keys {
          state.entries[path]?.listeners.removeAll { $0 === listener }
          if state.entries[path]?.listeners.isEmpty ?? false { state.entries[path] = nil }
        }
      }
    }
  }

  /// The files that are open, and why others are not.
  var files: [(path: String, file: OpenFile?, reason: String?)] {
    state.withLock { state in
      state.entries.map { ($0.key, $0.value.file, $0.value.reason) }.sorted { $0.0 < $1.0 }
    }
  }

  // MARK: - On the queue

  private func look() {
    for path in state.withLock({ Array($0.entries.keys) }) { check(path) }
    for (pattern, listener) in state.withLock({ $0.patterns }) {
      for path in Self.paths(of: pattern) { add(listener, at: path) }
    }
    state.withLock { $0.onLook }?()
  }

  private func add(_ listener: any Listener, at path: String) {
    let known = state.withLock { state in
      state.entries[path]?.listeners.contains { $0 === listener } ?? false
    }
    if known { return }
    state.withLock { $0.entries[path, default: Entry()].listeners.append(listener) }
    if let file = state.withLock({ $0.entries[path]?.file }) {
      listener.begin(file)
    } else {
      open(path)
    }
  }

  private func check(_ path: String) {
    guard let file = state.withLock({ $0.entries[path]?.file }) else { return open(path) }
    guard file.isLost else { return }
    let listeners = state.withLock { state in
      state.entries[path]?.file = nil
      return state.entries[path]?.listeners ?? []
    }
    for listener in listeners { listener.end(path) }
    open(path)
  }

  private func open(_ path: String) {
    do {
      let file = try OpenFile(path)
      let listeners = state.withLock { state in
        state.entries[path]?.file = file
        state.entries[path]?.reason = nil
        return state.entries[path]?.listeners ?? []
      }
      for listener in listeners { listener.begin(file) }
    } catch {
      let listeners = state.withLock { state in
        let isNew = state.entries[path]?.reason != "\(error)"
        state.entries[path]?.reason = "\(error)"
        return isNew ? state.entries[path]?.listeners ?? [] : []
      }
      for listener in listeners { listener.isWaiting(for: path, "\(error)") }
    }
  }

  // MARK: - Patterns

  static func isPattern(_ text: String) -> Bool {
    text.utf8.contains { [UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "[")].contains($0) }
  }

  /// The paths that match; of a path without a pattern that itself.
  static func paths(of pattern: String) -> [String] {
    guard isPattern(pattern) else { return [pattern] }
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0 else { return [] }
    let paths = (0..<Int(found.gl_pathc)).compactMap { index in
      found.gl_pathv[index].map { String(path: $0) }
    }
    // The companions of a store, whose names begin with its own.
    return WatchedPaths.distinct(
      paths.filter { path in
        !["-lock", ".lock", "-signal", ".signal"].contains { path.endsWithBytes(of: $0) }
      })
  }
}
