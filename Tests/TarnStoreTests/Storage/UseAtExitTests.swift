import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// The mark of a file whose commits are not synced, when the process ends with the file open.
@Suite struct UseAtExitTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("test.realm") }

  /// Kept for as long as the process runs, as a program's global.
  private static let kept = Lock<Store?>(nil)

  private static func open(_ path: String) -> Store {
    do {
      var options = Store.Options()
      options.durability = .relaxed
      let store = try StoreRegistry.open(path, options)
      kept.withLock { $0 = store }
      return store
    } catch {
      fatalError("\(error)")
    }
  }

  private static func write(_ store: Store) {
    do { _ = try store.write { _ in } } catch { fatalError("\(error)") }
  }

  private static func state(_ path: String) -> UseMark.State? {
    guard let file = try? OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "test") else {
      return nil
    }
    return UseMark.read(file.raw).state
  }

  @Test func `exit removes it`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.write(Self.open(path))
      precondition(Self.state(path) == .inUse)
      exit(0)
    }
    #expect(Self.state(path) == .closed)
  }

  @Test func `exit removes the mark of a killed process, too`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.write(Self.open(path))
      _exit(0)
    }
    #expect(Self.state(path) == .inUse)
    await #expect(processExitsWith: .success) { [path = path as String] in
      _ = Self.open(path)
      exit(0)
    }
    #expect(Self.state(path) == .closed)
  }

  @Test func `it stays while another thread writes, which exit does not wait for`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = Self.open(path)
      Self.write(store)
      let writes = DispatchSemaphore(value: 0)
      Thread {
        try? store.environment.write { _ in
          writes.signal()
          while true { pause() }
        }
      }.start()
      writes.wait()
      exit(0)
    }
    #expect(Self.state(path) == .inUse)
  }

  @Test func `a write that follows sets it again`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Handlers that are registered earlier are called later.
      atexit {
        guard let store = UseAtExitTests.kept.withLock({ $0 }) else { _exit(1) }
        if UseMark.read(store.environment.descriptor).state != .closed { _exit(2) }
        UseAtExitTests.write(store)
      }
      Self.write(Self.open(path))
      exit(0)
    }
    #expect(Self.state(path) == .inUse)
  }

  @Test func `it stays while another process has the file open`() async throws {
    var options = Store.Options()
    options.durability = .relaxed
    let store = try StoreRegistry.open(path, options)
    Self.write(store)
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.write(Self.open(path))
      exit(0)
    }
    #expect(Self.state(path) == .inUse)
    withExtendedLifetime(store) {}
  }

  @Test func `the exit of a forked child does nothing`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.write(Self.open(path))
      let status = Forked.run { exit(0) }
      precondition(status == 0)
      precondition(Self.state(path) == .inUse)
      exit(0)
    }
    #expect(Self.state(path) == .closed)
  }
}
