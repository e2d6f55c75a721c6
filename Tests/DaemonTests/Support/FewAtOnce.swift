import Testing

/// Lets only a few tests with daemons run at a time. Such a test mostly waits, so without a bound
/// all of them would run: their daemons would need more instances of inotify than a user has, and
/// would look at their files again and again instead.
struct FewAtOnce: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Places.shared.take()
    do {
      try await function()
    } catch {
      await Places.shared.giveBack()
      throw error
    }
    await Places.shared.giveBack()
  }
}

extension Trait where Self == FewAtOnce {
  static var fewAtOnce: FewAtOnce { FewAtOnce() }
}

private actor Places {
  static let shared = Places()

  private var free = 8
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func giveBack() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
