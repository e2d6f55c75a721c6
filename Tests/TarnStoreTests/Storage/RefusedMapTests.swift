import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Large mappings that the system refuses with EINVAL, as under valgrind.
@Suite struct RefusedMapTests {
  private static let limit = 16 << 30

  @Test func `a store gets a smaller map`() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryStore()
      guard Self.refuseLargeMaps() else { fatalError("the system has no filters of calls") }
      let store = try folder.open()
      try store.write { _ in }
      precondition(store.environment.mapByteCount < Self.limit)
    }
  }

  /// From now on `mmap` of that many bytes and more fails in this thread, with EINVAL.
  private static func refuseLargeMaps() -> Bool {
    #if arch(x86_64)
      let mmap: UInt64 = 9
    #else
      let mmap: UInt64 = 222
    #endif
    func step(_ code: UInt64, _ ifTrue: UInt64, _ ifFalse: UInt64, _ operand: UInt64) -> UInt64 {
      code | ifTrue << 16 | ifFalse << 24 | operand << 32
    }
    var filter = [
      step(0x20, 0, 0, 0),  // the number of the call
      step(0x15, 0, 3, mmap),
      step(0x20, 0, 0, 28),  // the high half of its second argument
      step(0x35, 0, 1, UInt64(limit >> 32)),
      step(0x06, 0, 0, 0x5_0000 | UInt64(EINVAL)),
      step(0x06, 0, 0, 0x7fff_0000),
    ]
    typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    let control = unsafeBitCast(dlsym(nil, "prctl"), to: Control.self)
    return filter.withUnsafeMutableBufferPointer { steps in
      var program: (UInt, UnsafeMutablePointer<UInt64>?) = (UInt(steps.count), steps.baseAddress)
      return withUnsafePointer(to: &program) { program in
        control(38, 1, 0, 0, 0) == 0 && control(22, 2, UInt(bitPattern: program), 0, 0) == 0
      }
    }
  }
}
