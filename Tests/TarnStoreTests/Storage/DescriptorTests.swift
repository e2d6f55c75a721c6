import CTarn
import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// In processes of their own, whose descriptors nobody else uses.
@Suite struct DescriptorTests {
  @Test(arguments: [[0], [1], [2], [0, 1], [0, 1, 2]] as [[Int32]])
  func `no descriptor is a standard one`(closed: [Int32]) async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) {
      [said = said as KeptErrors, closed = closed as [Int32]] in
      said.keep()
      // A trap is still told of when the standard error is closed.
      let errors = fcntl(2, F_DUPFD_CLOEXEC, 100)
      func check(_ isRight: Bool, _ what: String) {
        if isRight { return }
        dup2(errors, 2)
        fatalError(what)
      }
      for number in closed { close(number) }
      check(try Waker().descriptor > 2, "the waker")
      check(try OwnedDescriptor(opening: "/", flags: O_RDONLY, operation: "").raw > 2, "a folder")
      check(try NamelessFiles.inMemory(for: "").raw > 2, "memory")
      check(try NamelessFiles.temporary(for: "").raw > 2, "a nameless file")
      let signals = SignalFolder()
      let signal = try signals.open()
      check(signal.descriptor > 2, "the signal file")
      let waiting = try signal.makeWaitDescriptor()
      check(waiting.descriptor > 2, "inotify")

      let folder = TemporaryFolder()
      let path = folder.file("x.realm")
      let environment = try Environment.open(path: path)
      let memory = try Environment.open(.memory("DescriptorTests"), options: EnvironmentOptions())
      try environment.put([[1]: [1]])
      for number in closed { check(fcntl(number, F_GETFD) >= 0, "\(number) is free") }
      let numbers = Descriptors.leading(to: path) + Descriptors.leading(to: path + "-lock")
      check(numbers.count == 5 && numbers.allSatisfy { $0 > 2 }, "the store: \(numbers)")
      check(
        memory.descriptor > 2 && memory.firstEngine.descriptors.pages > 2, "the store in memory")
      for number in closed { _ = write(number, "a line of the program's\n", 24) }
      memory.close()
      environment.close()
      let report = try Environment.verifyPages(path: path)
      check(report.problems.isEmpty, "the file: \(report.problems)")
      let again = try Environment.open(path: path)
      check(try again.get([1]) == [1], "the value")
      again.close()
      withExtendedLifetime((folder, signals)) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `a commit is refused while the number of a descriptor is another file's`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let path = folder.file("x.realm")
      let environment = try Environment.open(path: path)
      try environment.put([[1]: [1]])
      let other = OtherFile(in: folder)
      let numbers = Descriptors.leading(to: path) + Descriptors.leading(to: path + "-lock")
      precondition(numbers.count == 5, "\(numbers)")
      let own = [environment.descriptor, environment.lockDescriptor]
      for number in numbers where !own.contains(number) {
        other.whileItHas(number) {
          do throws(StorageError) {
            try environment.put([[1]: [2]])
            fatalError("a commit while \(number) is another file's")
          } catch {
            precondition(error.code == .failed && error.detail.contains("descriptor \(number)"))
            precondition(error.detail.contains(other.path) && error.detail.contains("restart"))
          }
        }
        let value = try environment.get([1])
        precondition(value == [1])
      }
      // What LMDB does not write through is not in the way of a commit.
      for number in own {
        other.whileItHas(number) {
          for key in 2...200 as ClosedRange<UInt8> {
            try! environment.put([[key]: Array(repeating: key, count: 4000)])
          }
        }
      }
      // A read that looks at the file's length names the descriptor, not a file that was cut.
      other.whileItHas(environment.descriptor) {
        do throws(StorageError) {
          try environment.checkLength("read")
          fatalError("the other file passes for the store")
        } catch {
          precondition(error.code == .failed && error.detail.contains(other.path), "\(error)")
        }
      }
      try environment.put([[1]: [3]])
      environment.close()
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `closing a store closes no descriptor of the program's`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let path = folder.file("x.realm")
      let environment = try Environment.open(path: path)
      try environment.put([[1]: [1]])
      let other = OtherFile(in: folder)
      let number = environment.firstEngine.descriptors.pages
      other.whileItHas(number) {
        environment.close()
        precondition(Descriptors.target(number) == other.path)
        // What could not be closed is what the next one gets.
        let again = try! Environment.open(path: path)
        precondition(again === environment && (try? again.get([1])) == [1])
        precondition((try? again.put([[1]: [2]])) == nil)
        again.close()
      }
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `nothing is written to another file that has the signal file's number`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let signals = SignalFolder()
      var signal: SignalFile? = try signals.open()
      let number = signal!.descriptor
      let other = OtherFile(in: signals.folder)
      other.whileItHas(number) {
        signal!.raise(to: 7)
        signal!.wake()
        signal = nil
        precondition(Descriptors.target(number) == other.path)
      }
      withExtendedLifetime(signals) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `LMDB's descriptors are found wherever they are`() throws {
    let folder = TemporaryFolder()
    let environment = try Environment.open(path: folder.file("x.realm"))
    defer { environment.close() }
    let engine = environment.firstEngine
    for reach in [0, 3] as [Int32] {
      let found = EngineDescriptors.find(
        engine.handle, environment.dataIdentity, environment.lockIdentity, hasHeaders: true,
        besides: [environment.lockDescriptor], reach: reach)
      #expect(found == engine.descriptors)
    }
    let none = EngineDescriptors.find(
      engine.handle, environment.lockIdentity, environment.lockIdentity, hasHeaders: true,
      besides: [environment.lockDescriptor])
    #expect(none == nil)
    // Those of another handle are not taken for this one's.
    let others = [environment.lockDescriptor] + engine.descriptors.numbers
    let left = EngineDescriptors.find(
      engine.handle, environment.dataIdentity, environment.lockIdentity, hasHeaders: true,
      besides: others)
    #expect(left == nil)
  }
}

/// A file of the program's, which no other may write.
private struct OtherFile {
  let path: String
  private let content = Data(repeating: 0x77, count: 64 << 10)
  private let descriptor: Int32

  init(in folder: TemporaryFolder) {
    path = folder.file("other")
    try! content.write(to: URL(fileURLWithPath: path))
    descriptor = open(path, O_RDWR | O_CLOEXEC)
  }

  /// Gives it that number, as a program does that closed all descriptors and then opened its own.
  func whileItHas(_ number: Int32, _ body: () -> Void) {
    let before = fcntl(number, F_DUPFD_CLOEXEC, 100)
    precondition(before >= 0 && dup2(descriptor, number) == number)
    body()
    precondition(dup2(before, number) == number)
    close(before)
    precondition(try! Data(contentsOf: URL(fileURLWithPath: path)) == content)
  }
}
