# A GPU for machines without one: Mesa's Vulkan driver that computes on the processor. Sourced by `run`. The stock driver of
# Debian 12 lacks a feature that WebGPU needs, so there it comes from backports.

find_software_gpu() { compgen -G '/usr/share/vulkan/icd.d/lvp_icd*.json' | head -n 1; }

if [ -z "$(find_software_gpu)" ]; then
  (
    . /etc/os-release
    release=()
    if [ "$VERSION_CODENAME" = bookworm ]; then
      list=/etc/apt/sources.list.d/bookworm-backports-for-tests.list
      keys=/usr/share/keyrings/debian-archive-keyring.gpg
      echo "deb [signed-by=$keys] http://deb.debian.org/debian bookworm-backports main" >"$list"
      release=(-t bookworm-backports)
    fi
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${release[@]}" mesa-vulkan-drivers libvulkan1
  )
fi

# Only this driver, whatever else there is; and GPU tests that find none fail instead of being left out.
VK_ICD_FILENAMES=$(find_software_gpu)
export VK_ICD_FILENAMES
# Its compiler takes three fifths of the time for shaders of vectors of 128 bits.
export LP_NATIVE_VECTOR_WIDTH=128
export TEST_GPU=required
