public import Tarn

// The forms of the calls with completion handlers. They are called on another thread.

extension User {
  /// Logs out like ``logOut()``, and calls `completion` on another thread with nil or an
  /// ``AppError``.
  public func logOut(completion: @escaping @Sendable ((any Error)?) -> Void) {
    Completion.run(failing: completion) { try await self.logOut() }
  }

  /// Removes the user like ``remove()``, and calls `completion` on another thread with nil or an
  /// ``AppError``.
  public func remove(completion: @escaping @Sendable ((any Error)?) -> Void) {
    Completion.run(failing: completion) { try await self.remove() }
  }

  /// Deletes the user like ``delete()``, and calls `completion` on another thread with nil or an
  /// ``AppError``.
  public func delete(completion: @escaping @Sendable ((any Error)?) -> Void) {
    Completion.run(failing: completion) { try await self.delete() }
  }

  /// Reads the data like ``refreshCustomData()``, and calls `completion` on another thread with it,
  /// or with an ``AppError``.
  public func refreshCustomData(
    _ completion: @escaping @Sendable (Result<[String: AnyRealmValue], any Error>) -> Void
  ) {
    let told: @Sendable (Result<Void, any Error>) -> Void = { [self] result in
      completion(result.map { customData })
    }
    Completion.run(told) { try await self.refreshCustomData() }
  }
}
